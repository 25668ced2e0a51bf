// Joins the modules of the page and its libraries into few files, because a browser needs about a millisecond of
// processor time for each file. Prints the files as JSON, code by file name. Runs in a process of its own, because
// rolldown needs 150 MB that a process does not free before it ends.
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const bundle = await rolldown({
  input: { desk: fileURLToPath(new URL('./page/main.ts', import.meta.url)) },
  platform: 'browser',
  logLevel: 'silent',
})
// A file name contains a hash of the file's content, so that a browser may keep the file forever.
const names = '[name]-[hash:20].js'
const { output } = await bundle.generate({ format: 'esm', minify: true, entryFileNames: names, chunkFileNames: names })
const files = output.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source])
process.stdout.write(JSON.stringify(Object.fromEntries(files)))

// Reads messages, comments, test titles and documents, and names each place that is hard to read. Arguments: files or
// folders; without any, everything.
import { globSync, readFileSync, statSync } from 'node:fs'
import { findingsOf } from './language/findings.ts'

const EVERYTHING = ['*.md', 'bench', 'config', 'docs', 'scripts', 'src', 'strategies', 'test']

/** The file with the phrases that the check looks for. The check does not read this file, because it would find each
 *  phrase there. */
const WORDS = 'scripts/language/words.ts'

const paths = process.argv.length > 2 ? process.argv.slice(2) : EVERYTHING
const files = paths
  .flatMap((path) => globSync(path))
  .flatMap((path) => (statSync(path).isDirectory() ? globSync(`${path}/**/*.{md,ts,yaml}`) : path))
  .filter((path) => path !== WORDS)
  .toSorted()

let count = 0
for (const file of files)
  for (const { line, column, message } of findingsOf(file, readFileSync(file, 'utf8'))) {
    count++
    console.log(`${file}:${line}:${column} ${message}`)
  }
console.error(`language: ${count} findings in ${files.length} files`)
process.exitCode = count === 0 ? 0 : 1

// A process that runs one of the bare loops over a file of columns: `node bench/bare/main.ts LOOP FILE TOKENS`. With
// `node bench/bare/main.ts sweep-dip FILE TOKENS SETS THREADS`, it runs the loop of dip-buyer for many param sets, in
// several threads; with `sweep-sma`, the loop of the averages.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { crossings, DROP, dips, FASTS, loops, SLOWS } from './loops.ts'
import { bareBlocks } from './tape.ts'

const [name = '', path = '', tokens = '', sets = '', threads = ''] = isMainThread
  ? process.argv.slice(2)
  : (workerData as string[])

function result(): number {
  const blocks = bareBlocks(path)
  if (name === 'sweep-sma') return crossings(blocks, Number(tokens), FASTS, SLOWS.slice(0, Number(sets) / FASTS.length))
  if (name !== 'sweep-dip') return loops[name as keyof typeof loops](blocks, Number(tokens))
  const drops = Array.from({ length: Number(sets) }, (_, set) => DROP + set)
  return dips(blocks, Number(tokens), drops)
}

/** Runs one thread's share of the param sets in a new thread. Resolves with its result. */
function inThread(): Promise<number> {
  const started = [name, path, tokens, `${Number(sets) / Number(threads)}`]
  const worker = new Worker(new URL(import.meta.url), { workerData: started })
  return new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
}

if (!isMainThread) parentPort?.postMessage(result())
else if (Number(threads) > 1)
  console.log(JSON.stringify(await Promise.all(Array.from({ length: Number(threads) }, inThread))))
else console.log(JSON.stringify(result()))

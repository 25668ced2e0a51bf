// `npm run kills -- [--count N] [--seed S] [--together N]`: kills real processes. Exits with 1 if anything is lost,
// doubled or damaged.
import { parseArgs } from 'node:util'
import { killMany } from './kills.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '300' },
    together: { type: 'string', default: '3' },
    seed: { type: 'string' },
  },
})
const count = Number(values.count)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
console.log(`${count} kills, seed ${seed}`)
const complaints = await killMany({ count, seed, together: Number(values.together), say: (line) => console.log(line) })
for (const line of complaints) console.error(line)
console.log(`${count} kills, ${complaints.length} complaints, seed ${seed}`)
process.exit(complaints.length === 0 ? 0 : 1)

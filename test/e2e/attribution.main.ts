// `npm run attribution -- [--seed S] [--seconds N] [--only 1,2] [--keep FOLDER]`: runs live sessions on the sandbox and
// explains each by `attribute`. Exits with 1 if the unexplained part of a session is above 1 % of its difference and
// above 0.0001 SOL.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { attributedSession, type Difference, isUnexplained, SESSIONS } from './attributed-sessions.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seconds: { type: 'string', default: '75' },
    only: { type: 'string' },
    keep: { type: 'string' },
  },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const chosen = values.only?.split(',') ?? [...SESSIONS.keys()].map((index) => String(index + 1))
const unexplained: string[] = []

function say(name: string, found: Difference, rest: string): void {
  if (isUnexplained(found)) unexplained.push(name)
  console.log(`${name}: gap ${found.gapSol.toFixed(6)} SOL, ${found.residualSol.toFixed(6)} SOL not explained${rest}`)
}

console.log(`seed ${seed}`)
for (const number of chosen) {
  const index = Number(number) - 1
  const session = SESSIONS[index]
  if (session === undefined)
    throw new RangeError(`--only: there is no session ${number}; expected 1 to ${SESSIONS.length}`)
  const keep = values.keep && join(values.keep, number)
  const found = await attributedSession(session, seed + index, Number(values.seconds), keep)
  const { bots, speed, faults } = session
  const factors = found.factors.map(({ name, sol }) => `${name} ${sol.toFixed(6)}`).join(', ')
  const rest = `; ${found.matched} of ${found.attempts} transactions; ${[factors, ...found.notes].join('; ')}`
  say(`session ${number}, ${bots} at speed ${speed}${faults ? ' with faults' : ''}`, found, rest)
  for (const bot of found.bots)
    say(`  ${bot.bot} (${bot.mode})`, bot, bot.apart === null ? '' : `; ${JSON.stringify(bot.apart)}`)
}
console.log(`${unexplained.length} differences between a session and its backtest are not explained, seed ${seed}`)
process.exit(unexplained.length === 0 ? 0 : 1)

import { defineStrategy, type Json, z } from 'sluice'

/** What nobody can get at from outside. */
const hoard: unknown[] = []

function forever(): never {
  for (;;) hoard.length = 0
}

function deeper(depth: number): number {
  return deeper(depth + 1) + 1
}

/** What it can be told to do, each as some strategy somewhere has done it. */
const acts: Readonly<Record<string, (bot: { state: Json; note(mint: string, why: string): void }) => void>> = {
  loop: forever,
  exit: () => process.exit(3),
  recursion: () => void deeper(0),
}

export default defineStrategy({
  name: 'hostile',
  about: 'Does what it is told by signals: harm.',
  params: z.object({ atStart: z.string().default('') }),
  keys: ['trades'],
  warmup: 60,
  start: ({ atStart }, bot) => {
    let then = ''
    acts[atStart]?.(bot)
    return {
      onSignal(name, data) {
        const { to, when } = data as { to: string; when?: string }
        if (to !== bot.name) return
        if (when === 'row') then = name
        else acts[name]?.(bot)
      },
      onTrade() {
        acts[then]?.(bot)
      },
    }
  },
})

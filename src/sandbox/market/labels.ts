import type { Draws } from '../draws.ts'
import type { TokenLabel } from './market.ts'

const FIRST = [
  'Baby',
  'Moon',
  'Turbo',
  'Grumpy',
  'Tiny',
  'Golden',
  'Quantum',
  'Sleepy',
  'Giga',
  'Salty',
  'Cosmic',
  'Based',
]
const SECOND = [
  'Otter',
  'Frog',
  'Capybara',
  'Cat',
  'Shiba',
  'Penguin',
  'Goose',
  'Raccoon',
  'Whale',
  'Hamster',
  'Pigeon',
  'Moth',
]

/** Hostile token names: texts that attack terminals, pages, spreadsheets, chats, and objects with names as keys. */
const HOSTILE: readonly string[] = [
  '\u001b[2J\u001b[1;31mSOLD OUT\u001b[0m',
  '\u001b]0;owned\u0007Bell',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '=HYPERLINK("http://127.0.0.1:1","win")',
  '\u202egnipmup\u202c',
  'line\r\nbreak\u0000nul',
  '__proto__',
  'constructor',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the text imitates a template
  '${jndi:ldap://127.0.0.1/a}',
  "'; DROP TABLE trades; --",
  '@everyone [free](http://127.0.0.1)',
  'Z\u0335\u0322a\u0338\u0321l\u0334g\u0337o\u0336',
  'long '.repeat(200),
  '\ud83d\udc38\u200d\ud83d\udd25',
  '',
]
const HOSTILE_SHARE = 0.04

export function drawLabel(draws: Draws): TokenLabel {
  const first = draws.pick(FIRST)
  const second = draws.pick(SECOND)
  const hostile = draws.chance(HOSTILE_SHARE)
  const name = hostile ? draws.pick(HOSTILE) : `${first} ${second}`
  const slug = `${first}${second}`.toLowerCase()
  return {
    name,
    symbol: hostile && draws.chance(0.5) ? draws.pick(HOSTILE) : (first.slice(0, 2) + second.slice(0, 3)).toUpperCase(),
    metadata: {
      description: hostile ? draws.pick(HOSTILE) : `${name}, the only ${second.toLowerCase()} on Solana.`,
      image: `https://images.invalid/${slug}.png`,
      website: hostile ? 'javascript:alert(1)' : `https://${slug}.invalid`,
      twitter: draws.chance(0.6) ? `https://x.invalid/${slug}` : '',
    },
  }
}

import type { Random } from '../../src/base/random.ts'
import { type Entry, type Path, pathText, YamlSource } from './yaml-source.ts'

/** A configuration with a mistake, and the error that is expected. */
export interface Wrong {
  /** Description of the mistake. */
  readonly what: string
  readonly yaml: string
  /** Offsets in `yaml` at which the error may be reported. */
  readonly offsets: readonly number[]
  /** Path in the form `bots[0].params`; undefined if the mistake breaks the syntax of YAML, because an error of syntax
   *  has no path. */
  readonly path: string | undefined
  /** The intended word if the mistake is a typing error. */
  readonly meant?: string
}

/** A kind of mistake. Returns undefined if the random change makes no mistake. */
type Rule = (source: YamlSource, random: Random) => Wrong | undefined

/** Keys of a configuration whose value is one word of a fixed list. */
const CHOICES = [
  ...['mode', 'executor', 'plan', 'priorityFeeSol', 'when', 'freezeAuthority', 'cluster', 'strategy', 'service'],
  ...['tradePrice', 'tradeAmount', 'priceUpdate', 'sell'],
]
const REQUIRED = [
  ...['baseUrl', 'wsUrl', 'name', 'strategy', 'url'],
  ...['requestsPerMinute', 'connections', 'messagesPerSecond', 'p50Seconds', 'p95Seconds'],
]
const WRONG_NUMBERS = ['-1', '-0.5', '.nan', '.inf', '-.inf', '1e15']
const WRONG_KINDS = ['{ a: 1 }', '[1, 2]', 'true', '~', 'many']
/**
 * Values of the right type that `sluice check` refuses, some of them only because they contradict other values of the
 * file. `inside`: path, within the value, at which the error is reported.
 */
const NONSENSE: readonly { key: string; value: string; inside?: Path }[] = [
  { key: 'stopLossPercent', value: '100' },
  { key: 'stopLossPercent', value: '80' },
  { key: 'trailingPercent', value: '100' },
  { key: 'slippageLadder', value: '[30, 15]' },
  { key: 'slippageLadder', value: '[]' },
  { key: 'latency', value: '{ p50Seconds: 4, p95Seconds: 1 }', inside: ['p95Seconds'] },
  { key: 'exits', value: '{ trailingArmPercent: 20, trailingPercent: none }', inside: ['trailingArmPercent'] },
  {
    key: 'exits',
    value:
      '{ takeProfitSteps: [{ atPercent: 40, sellPercent: 60 }, { atPercent: 60, sellPercent: 50 }], takeProfitPercent: 90 }',
    inside: ['takeProfitSteps', 1, 'sellPercent'],
  },
  {
    key: 'exits',
    value:
      '{ takeProfitSteps: [{ atPercent: 40, sellPercent: 50 }, { atPercent: 30, sellPercent: 50 }], takeProfitPercent: 90 }',
    inside: ['takeProfitSteps', 1, 'atPercent'],
  },
  { key: 'maxSolPerOrder', value: '50' },
  { key: 'share', value: '2' },
  { key: 'seed', value: '1.5' },
  { key: 'maxOpenPositions', value: '2.5' },
  { key: 'wsUrl', value: 'https://service.example/api/data' },
  { key: 'baseUrl', value: 'http://service.example/api' },
  { key: 'apiKey', value: 'sk-1234567890abcdef' },
  { key: 'publicKey', value: 'not-a-key' },
]

export const RULES: Readonly<Record<string, Rule>> = {
  'mistyped key': (source, random) => {
    const entry = pick(source.entries, random)
    const typo = mistype(entry.key, random)
    if (!isWord(typo) || source.beside(entry).some(({ key }) => key === typo)) return undefined
    const yaml = source.with({ from: entry.keyAt, to: entry.keyAt + entry.key.length }, typo)
    const path = pathText([...entry.path.slice(0, -1), typo])
    return { what: `${typo} for ${entry.key}`, yaml, offsets: [entry.keyAt], path, meant: entry.key }
  },
  'mistyped word': (source, random) => {
    const words = source.entries.filter(({ key, value }) => CHOICES.includes(key) && typeof value === 'string')
    const entry = pick(words, random)
    const meant = String(entry.value)
    const typo = mistype(meant, random)
    if (typo === meant || !isWord(typo)) return undefined
    return { ...wrongValue(source, entry, typo), meant }
  },
  'unknown strategy': (source, random) => {
    const entry = pick(named(source, 'strategy'), random)
    return wrongValue(source, entry, pick(['sniper9000', './missing.ts', 'grid', '""', '../nowhere/x.ts'], random))
  },
  'unknown param': (source, random) => {
    const entry = pick(named(source, 'params'), random)
    const key = pick(['lookback', 'window', 'zzz', 'maxSolPerOrder', 'stopLoss'], random)
    const yaml = source.with({ from: entry.from, to: entry.from + 1 }, `{ ${key}: 1, `)
    return { what: key, yaml, offsets: [entry.from + 2], path: pathText([...entry.path, key]) }
  },
  'wrong kind': (source, random) => {
    const entry = pick(source.entries, random)
    const isWhole = typeof entry.value === 'object'
    const value = pick(isWhole ? ['true', '7', 'many'] : WRONG_KINDS, random)
    const isRight = value === 'many' && typeof entry.value === 'string' && !CHOICES.includes(entry.key)
    const isBranch = value === '{ a: 1 }' && entry.key === 'plan' // a map is allowed there, but not this one
    return isRight || isBranch ? undefined : wrongValue(source, entry, value)
  },
  'out of range': (source, random) => {
    const numbers = source.entries.filter(({ value }) => typeof value === 'number')
    const [entry, value] = [pick(numbers, random), pick(WRONG_NUMBERS, random)]
    const isRight = value === '1e15' && entry.key === 'sizeSol' // the strategy sets no upper bound
    return isRight ? undefined : wrongValue(source, entry, value)
  },
  'missing part': (source, random) => {
    const parts = source.entries.filter(({ key, path }) => REQUIRED.includes(key) && path.length > 1)
    const entry = pick(parts, random)
    const next = source.beside(entry).find(({ keyAt }) => keyAt > entry.keyAt)
    const { keyAt, to } = entry
    // Removes the key from the file: a key at the start of a line becomes a comment; a key inside braces, or after the
    // dash of a list, is deleted.
    const isLine = /^ *$/.test(source.lead(entry))
    const isFollowed = source.yaml.startsWith(', ', to)
    const range = { from: keyAt, to: isFollowed ? to + 2 : to }
    const by = isLine ? `# ${source.yaml.slice(keyAt, to)}` : ''
    const moved = by.length - (range.to - range.from)
    const offsets = [entry.above, ...(next === undefined ? [] : [next.keyAt + moved])]
    return { what: `no ${entry.key}`, yaml: source.with(range, by), offsets, path: pathText(entry.path) }
  },
  'key twice': (source, random) => {
    const values = source.entries.filter(({ value }) => typeof value !== 'object')
    const entry = pick(values, random)
    const lead = source.lead(entry)
    const text = source.yaml.slice(entry.keyAt, entry.to)
    const by = /^[ -]*$/.test(lead) ? `${text}\n${' '.repeat(lead.length)}${text}` : `${text}, ${text}`
    const yaml = source.with({ from: entry.keyAt, to: entry.to }, by)
    return { what: entry.key, yaml, offsets: [entry.keyAt + by.length - text.length], path: pathText(entry.path) }
  },
  'wrong indentation': (source, random) => {
    const lines = source.yaml.split('\n')
    const at = random.integer(lines.length)
    const line = lines[at] as string
    if (!/^ +[\w-]/.test(line)) return undefined
    const by = pick(['\t', '   ', ''] as const, random)
    lines[at] = by === '' ? line.slice(1) : by === '\t' ? `\t${line.trimStart()}` : `${by}${line}`
    const offset = lines.slice(0, at).join('\n').length + 1
    return { what: JSON.stringify(lines[at]), yaml: lines.join('\n'), offsets: [offset], path: undefined }
  },
  'quote or bracket': (source, random) => {
    const isFlow = ({ from }: Entry): boolean => '{['.includes(source.yaml[from] as string)
    const entry = pick(
      source.entries.filter((one) => typeof one.value !== 'object' || isFlow(one)),
      random,
    )
    const sign = pick(["'", '"', '[', '{', '@', '&', '*'], random)
    const yaml = isFlow(entry)
      ? source.with({ from: entry.to - 1, to: entry.to }, '')
      : source.with({ from: entry.from, to: entry.from }, sign)
    const what = yaml.slice(entry.keyAt, entry.to + 2).split('\n', 1)[0] as string
    return { what, yaml, offsets: [entry.keyAt], path: undefined }
  },
  'nonsense together': (source, random) => {
    const { key, value, inside = [] } = pick(NONSENSE, random)
    const found = named(source, key)
    if (found.length === 0) return undefined
    const entry = pick(found, random)
    const yaml = source.with(entry, value)
    const path = pathText([...entry.path, ...inside])
    const at = new YamlSource(yaml).entries.find((one) => pathText(one.path) === path)
    return { what: `${key}: ${value}`, yaml, offsets: [at?.from ?? entry.from], path }
  },
}

function wrongValue(source: YamlSource, entry: Entry, value: string): Wrong {
  const yaml = source.with(entry, value)
  return { what: `${entry.key}: ${value}`, yaml, offsets: [entry.from], path: pathText(entry.path) }
}

function named({ entries }: YamlSource, name: string): Entry[] {
  return entries.filter(({ key }) => key === name)
}

function pick<T>(of: readonly T[], random: Random): T {
  return of[random.integer(of.length)] as T
}

/** Returns whether YAML reads the text as a string that begins with a letter. */
function isWord(text: string): boolean {
  return /^[A-Za-z]/.test(text) && !/^(true|false|null)$/i.test(text)
}

/**
 * Returns the word with a typing error: a letter changed, left out, doubled, added or swapped, or the notation of
 * another language.
 */
function mistype(word: string, random: Random): string {
  const at = random.integer(Math.max(1, word.length - 1))
  const letter = String.fromCharCode(97 + random.integer(26))
  const [before, here, next, after] = [word.slice(0, at), word[at] ?? '', word[at + 1] ?? '', word.slice(at + 2)]
  return pick(
    [
      before + next + after,
      before + next + here + after,
      before + letter + next + after,
      before + here + letter + next + after,
      before + here + here + next + after,
      word.toUpperCase(),
      word.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`),
      `${word}s`,
    ],
    random,
  )
}

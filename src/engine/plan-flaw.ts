/** A part of a strategy's bars, indicators or conditions that cannot be used. */
export interface PlanFlaw {
  /** Place in the strategy: `bars`, `indicators` or `when`, and the key there. */
  readonly path: readonly string[]
  readonly problem: string
  /** The word that the author probably meant; undefined if none is known. */
  readonly meant?: string | undefined
  /** If the flaw is a wrong word: this word, and in `right` the words that are allowed in its place. */
  readonly word?: string
  readonly right?: readonly string[]
}

/** Reports a flaw that is found while code of the strategy runs. */
export class FlawError extends Error {
  readonly flaw: PlanFlaw

  constructor(flaw: PlanFlaw) {
    super(flawText(flaw))
    this.flaw = flaw
  }
}

/** Returns a flaw as one line, without the word that the author probably meant. */
export function flawText({ path, problem }: PlanFlaw): string {
  return `${path.map((key, index) => (index === 0 ? key : keyText(key))).join('')}: ${problem}`
}

function keyText(key: string): string {
  return /^\w+$/.test(key) && !/^\d/.test(key) ? `.${key}` : `['${key}']`
}

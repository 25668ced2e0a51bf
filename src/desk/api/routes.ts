import { SluiceError } from '../../base/errors.ts'
import type { Worth } from '../../engine/accounting/money.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { Refusal, type RefusalCode } from '../refusal.ts'
import { DeskJournal } from './desk-journal.ts'
import { equityAnswer } from './equity.ts'
import { fillsAnswer, ordersAnswer, positionsAnswer, roundTripsAnswer } from './lists.ts'
import { logAnswer, refusalsAnswer } from './log.ts'
import { moneyAnswer } from './money.ts'
import { checkedMint, Parameters } from './parameters.ts'
import { Results } from './results.ts'
import { tokenAnswer } from './token.ts'
import type { Answers } from './types.ts'
import { whyAnswer } from './why.ts'

interface Route<Answer> {
  /** Names of the parameters of the query. */
  readonly parameters: readonly string[]
  /**
   * `about`: the part of the path after the name of the endpoint, for example a mint; undefined if the endpoint has no
   * such part.
   */
  readonly answer: (api: Api, parameters: Parameters, about: string) => Answer
  readonly hasAbout?: true
}

const LIST = ['bot', 'mint', 'before', 'limit']

/** The endpoints, by their path below `/api/`. */
const ROUTES: { readonly [Path in keyof Answers]: Route<Answers[Path]> } = {
  orders: { parameters: LIST, answer: ({ journal }, parameters) => ordersAnswer(journal, parameters) },
  fills: { parameters: LIST, answer: ({ journal }, parameters) => fillsAnswer(journal, parameters) },
  'round-trips': { parameters: LIST, answer: ({ journal }, parameters) => roundTripsAnswer(journal, parameters) },
  positions: { parameters: LIST, answer: ({ journal }, parameters) => positionsAnswer(journal, parameters) },
  token: {
    parameters: ['from', 'to', 'span', 'bars'],
    hasAbout: true,
    answer: ({ journal }, parameters, about) => tokenAnswer(journal, parameters, checkedMint(about)),
  },
  why: {
    parameters: ['bot'],
    hasAbout: true,
    answer: ({ journal }, parameters, about) => whyAnswer(journal, parameters, about),
  },
  equity: {
    parameters: ['bot', 'mode', 'points'],
    answer: ({ journal }, parameters) => equityAnswer(journal, parameters),
  },
  money: { parameters: ['bot', 'mode'], answer: ({ journal }, parameters) => moneyAnswer(journal, parameters) },
  log: { parameters: ['level', ...LIST], answer: ({ journal }, parameters) => logAnswer(journal, parameters) },
  refusals: {
    parameters: [...LIST, 'code'],
    answer: ({ journal }, parameters) => refusalsAnswer(journal, parameters),
  },
  results: { parameters: [], answer: ({ results }) => results.answer() },
  compare: { parameters: ['run'], answer: ({ journal, results }, parameters) => results.compare(journal, parameters) },
}

/** Body of an answer with an error. `error` is one sentence. */
export interface ApiError {
  readonly error: string
  readonly code: RefusalCode
}

export interface ApiAnswer {
  readonly status: number
  readonly body: Answers[keyof Answers] | ApiError
}

/**
 * Answers the page's requests for data of a journal. The object keeps the rows of earlier requests in memory, so a
 * process creates only one `Api`.
 */
export class Api {
  readonly #journal: DeskJournal | undefined
  readonly results: Results

  /**
   * `reader`: undefined if the desk shows no journal. `folders`: folders of results, or folders that contain such
   * folders. `worth`: returns the present values of the open positions.
   */
  constructor(reader: JournalReader | undefined, folders: readonly string[], worth: () => Worth) {
    this.#journal = reader && new DeskJournal(reader, worth)
    this.results = new Results(folders)
  }

  /** Throws a Refusal if the desk shows no journal. */
  get journal(): DeskJournal {
    if (this.#journal === undefined)
      throw new Refusal(404, 'NOT_FOUND', 'this desk shows the results of backtests, and has no journal')
    return this.#journal
  }

  /** Answers a GET request. `path`: the part of the path after `/api/`, decoded. */
  answer(path: string, query: Iterable<readonly [string, string]>): ApiAnswer {
    try {
      const [name = '', ...rest] = path.split('/')
      const route = Object.hasOwn(ROUTES, name) ? ROUTES[name as keyof Answers] : undefined
      if (route === undefined || rest.length !== (route.hasAbout === true ? 1 : 0))
        throw new Refusal(404, 'NOT_FOUND', 'there is no such endpoint')
      return { status: 200, body: route.answer(this, new Parameters(query, route.parameters), rest[0] ?? '') }
    } catch (error) {
      if (error instanceof Refusal) return { status: error.status, body: { error: error.message, code: error.code } }
      if (error instanceof SluiceError) return { status: 503, body: { error: error.message, code: 'FAILED' } }
      throw error
    }
  }
}

import { SluiceError } from '../../base/errors.ts'
import type { JournalReader } from '../../journal/reader/reader.ts'
import { logAnswer } from './log.ts'
import { ApiRefusal, Parameters, shown } from './parameters.ts'
import type { Answers, ApiError } from './types.ts'

interface Route<Answer> {
  /** Names of the parameters of the query. */
  readonly parameters: readonly string[]
  readonly answer: (journal: JournalReader, parameters: Parameters) => Answer
}

const LIST = ['bot', 'mint', 'before', 'limit']

/** The endpoints, by their path below `/api/`. */
const ROUTES: { readonly [Path in keyof Answers]?: Route<Answers[Path]> } = {
  log: { parameters: ['level', ...LIST], answer: logAnswer },
}

export interface ApiAnswer {
  readonly status: 200 | ApiRefusal['status']
  readonly body: Answers[keyof Answers] | ApiError
}

/** Answers a GET request. `path`: the part of the path after `/api/`, decoded. */
export function apiAnswer(journal: JournalReader, path: string, query: Iterable<readonly [string, string]>): ApiAnswer {
  try {
    const route = Object.hasOwn(ROUTES, path) ? ROUTES[path as keyof Answers] : undefined
    if (route === undefined) throw new ApiRefusal(404, 'NOT_FOUND', `there is no endpoint ${shown(path)}`)
    return { status: 200, body: route.answer(journal, new Parameters(query, route.parameters)) }
  } catch (error) {
    if (error instanceof ApiRefusal) return { status: error.status, body: { error: error.message, code: error.code } }
    if (error instanceof SluiceError) return { status: 503, body: { error: error.message, code: 'JOURNAL_UNREADABLE' } }
    throw error
  }
}

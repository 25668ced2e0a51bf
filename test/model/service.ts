import { type Case, holds, VALIDITY } from './scenario.ts'
import type { Post, State } from './state.ts'
import { attemptName, type Steps } from './steps.ts'

/**
 * The trading service and its network. A request can be lost, executed or refused at any time, and its answer can be
 * lost as well.
 */
export function serviceSteps(scenario: Case, state: State, steps: Steps): void {
  for (const [index, { request, isOpen }] of state.posts.entries()) {
    const name = attemptName(index)
    if (request === 'out') {
      steps.chance(`the service executes ${name}`, (next) => {
        makeTransaction(next, index)
        answer(next, index, 'over', 'signature')
      })
      steps.chance(`the request for ${name} is lost`, (next) => answer(next, index, 'over', 'none'))
      if (isOpen) refusalSteps(scenario, index, steps)
    }
    if (request === 'out' && scenario.persists === true && !isOpen)
      steps.chance(`the service executes ${name}, and executes it again if it reverts`, (next) => {
        makeTransaction(next, index)
        next.posts[index]!.request = 'again'
      })
    const { at, isOk } = state.transactions[index]!
    if (request === 'again' && at === 0 && !isOk)
      steps.chance(`the service executes ${name} with another transaction`, (next) => {
        Object.assign(next.transactions[index]!, { at: null })
        makeTransaction(next, index)
        next.posts[index]!.request = 'over'
      })
    if (request === 'refused')
      steps.fault(`the service executes ${name} after refusing it`, (next) => {
        makeTransaction(next, index)
        next.posts[index]!.request = 'over'
      })
  }
  secondExecutionStep(state, steps)
}

/** Builds a transaction with the newest blockhash. From now on it may land, unless `isOut` is false. */
export function makeTransaction(next: State, index: number, isOut = true): void {
  Object.assign(next.transactions[index]!, { lastHeight: next.head + VALIDITY, isOut })
}

function refusalSteps(scenario: Case, index: number, steps: Steps): void {
  const request = holds(scenario, 'A7') ? 'over' : 'refused'
  steps.chance(`the service refuses ${attemptName(index)} for its slippage`, (next) =>
    answer(next, index, request, 'again'),
  )
  steps.chance(`the service refuses ${attemptName(index)}`, (next) => answer(next, index, request, 'never'))
}

/** Drops an answer that the client no longer reads. */
function answer(next: State, index: number, request: Post['request'], said: Post['answer']): void {
  const post = next.posts[index]!
  post.request = request
  post.answer = post.isOpen ? said : 'none'
}

function secondExecutionStep(state: State, steps: Steps): void {
  const { isOut, at } = state.transactions[0]!
  if (state.faults.secondExecutions === 0 || (!isOut && at === null)) return
  steps.fault('the service executes attempt 1 once more', (next) => {
    makeTransaction(next, next.transactions.length - 1)
    next.faults.secondExecutions--
  })
}

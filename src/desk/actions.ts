import { Hono } from 'hono'
import { SluiceError } from '../base/errors.ts'
import { commandOf, REMOTE_COMMANDS, type RemoteCommand } from '../live/control/command.ts'
import { Nonces, type Taken } from '../live/control/nonces.ts'
import type { Preview } from '../live/control/preview.ts'
import { type DeskEnv, requireType, sessionOf } from './env.ts'
import { Refusal } from './refusal.ts'

/**
 * Carries out the actions of the desk in the main thread, and previews them. Both functions reject with a Refusal if
 * the process refuses the action.
 */
export interface Actor {
  preview(command: RemoteCommand): Promise<Preview>
  /** `by`: name of the session; the journal records it. */
  carryOut(command: RemoteCommand, by: string): Promise<string>
}

/**
 * Routes of the actions. A preview describes the effect of an action; a confirmation with the preview's nonce (a code
 * that is valid once) carries it out. `actor`: undefined if the desk is read-only.
 */
export function actionRoutes(actor: Actor | undefined, now: () => number): Hono<DeskEnv> {
  const nonces = new Nonces<RemoteCommand>(now)
  const routes = new Hono<DeskEnv>()
  routes.post('/api/actions/preview', async ({ req, env }) => {
    const { session, acts } = actingSession(env, actor)
    const command = readAction(jsonOf(req.header('content-type'), await req.text()))
    const preview = await acts.preview(command)
    return Response.json({ ...preview, ...nonces.make(session.id, command) })
  })
  routes.post('/api/actions/confirm', async ({ req, env }) => {
    const { session, acts } = actingSession(env, actor)
    const { nonce } = jsonOf(req.header('content-type'), await req.text())
    const command = confirmed(nonces.take(session.id, typeof nonce === 'string' ? nonce : ''))
    return Response.json({ text: await acts.carryOut(command, session.name) })
  })
  return routes
}

function confirmed(taken: Taken<RemoteCommand>): RemoteCommand {
  if (taken.kind === 'valid') return taken.action
  const why = taken.kind === 'expired' ? 'has expired' : 'was already used or belongs to another session'
  throw new Refusal(409, 'NONCE_INVALID', `this confirmation ${why}: open the preview again`)
}

function actingSession(env: DeskEnv['Bindings'], acts: Actor | undefined) {
  const session = sessionOf(env)
  if (acts === undefined) throw new Refusal(403, 'NO_ACTIONS', 'this desk is read-only, so it carries out no action')
  if (session.readOnly) throw new Refusal(403, 'READ_ONLY', 'this session is read-only, so it cannot carry out actions')
  return { session, acts }
}

function jsonOf(type: string | undefined, body: string): Readonly<Record<string, unknown>> {
  requireType(type, 'application/json')
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {}
  throw new Refusal(400, 'REQUEST_INVALID', 'expected a body with one JSON object')
}

const FIELDS = ['action', 'mint', 'order', 'bot', 'sol', 'wallet']

function readAction(fields: Readonly<Record<string, unknown>>): RemoteCommand {
  const command = REMOTE_COMMANDS.find((name) => name === fields.action)
  if (command === undefined)
    throw new Refusal(400, 'REQUEST_INVALID', `expected an action: ${REMOTE_COMMANDS.join(', ')}`)
  if (Object.keys(fields).some((name) => !FIELDS.includes(name)))
    throw new Refusal(400, 'REQUEST_INVALID', `expected only the fields ${FIELDS.join(', ')}`)
  try {
    return commandOf({ ...fields, command }) as RemoteCommand
  } catch (error) {
    if (error instanceof SluiceError) throw new Refusal(400, 'REQUEST_INVALID', error.message)
    throw error
  }
}

import { type Answer, json } from './answers.ts'
import { type Faults, parseFault } from './faults.ts'
import type { Handle } from './http.ts'

/**
 * /sandbox/faults: POST sets one fault or a list, GET shows what has not struck yet, DELETE clears. Answers always with
 * what is left.
 */
export function controlEndpoint(faults: Faults): Handle {
  return ({ method, path, body }) => {
    if (path !== '/sandbox/faults') return json(404, { error: 'POST, GET or DELETE /sandbox/faults' })
    if (method === 'POST') return setFaults(faults, body)
    if (method === 'DELETE') faults.clear()
    return json(200, { active: faults.active })
  }
}

function setFaults(faults: Faults, body: string): Answer {
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    return json(400, { error: 'the body is JSON' })
  }
  const parsed = (Array.isArray(value) ? value : [value]).map(parseFault)
  const wrong = parsed.find((fault) => typeof fault === 'string')
  if (wrong !== undefined) return json(400, { error: wrong })
  for (const fault of parsed) if (typeof fault !== 'string') faults.set(fault)
  return json(200, { active: faults.active })
}

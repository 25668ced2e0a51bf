import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { alarmText, readThrown, type ThrownAtOf } from '../engine/bots/thrown-value.ts'
import { DECIDING_ROWS, LIBRARIES as JOINED_LIBRARIES, MANIFEST, OWN_STRATEGIES, SOURCES } from './package-paths.ts'

/** Number of stack frames that Node records: enough to reach the strategy from deep inside a library. */
const FRAMES_RECORDED = 30
const FRAMES_SHOWN = 5
const LONGEST_FRAME = 300

/** Folders with the code of Sluice itself, without the strategies that come with it. */
const SLUICE = [SOURCES, join(dirname(MANIFEST), 'bin', sep)]
const ENGINE = DECIDING_ROWS.map((row) => join(SOURCES, row, sep))
/** Folders inside the folders of `SLUICE` that contain code of others: strategies and libraries. */
const FOREIGN = [OWN_STRATEGIES, fileURLToPath(JOINED_LIBRARIES)]
const LIBRARIES = `${sep}node_modules${sep}`

/** Matches a line of a stack: ` at name (file:///a/b.ts:1:2)` or ` at file:///a/b.ts:1:2`. A test runner may write a
 *  path in place of the URL. */
const FRAME = /^ {4}at (?:async )?(?:(.+?) \()?((?:file:\/\/|node:|\/|[A-Za-z]:\\)[^<>]*?):(\d+):(\d+)\)?$/

interface Frame {
  readonly name: string
  readonly path: string
  readonly line: string
  readonly column: string
}

/** Returns a function that finds the strategy's own code in a stack. Paths below `cwd` are shown relative to it. */
export function stackReader(cwd = process.cwd()): ThrownAtOf {
  if (Error.stackTraceLimit < FRAMES_RECORDED && !Object.isFrozen(Error)) Error.stackTraceLimit = FRAMES_RECORDED
  return (stack) => {
    const frames = strategyFrames(stack)
    const own = frames.find(({ path }) => !path.includes(LIBRARIES) || path.startsWith(OWN_STRATEGIES)) ?? frames[0]
    if (own === undefined) return undefined
    return { place: placeOf(own, cwd), stack: frames.slice(0, FRAMES_SHOWN).map((frame) => frameText(frame, cwd)) }
  }
}

/** Returns one line about an error that a strategy threw while it was loaded or its params were checked. The line
 *  begins with the place of the error. */
export function thrownText(error: unknown, cwd = process.cwd()): string {
  const { reason, stack } = readThrown(error)
  return alarmText({ reason, thrownAt: stackReader(cwd)(stack) })
}

/** Returns one line about a strategy module that could not be loaded. The line begins with the place of the error. */
export function loadingFailure(error: unknown, cwd: string): string {
  const { reason, above, stack } = readThrown(error)
  const [, missing, importer] = /^.*?: (Cannot find .*) imported from (.*)$/.exec(reason) ?? []
  if (missing !== undefined && importer !== undefined) return `${shownPath(importer, cwd)}: ${missing}`
  const place = syntaxPlace(above, cwd)
  return alarmText({ reason, thrownAt: place === undefined ? stackReader(cwd)(stack) : { place, stack: [] } })
}

/** Returns the place of a syntax error as `FILE:LINE:COLUMN`; undefined if `above` does not contain the place. `above`:
 *  the lines that Node writes above the error message, which are the file and line, the code, and a caret below the
 *  column. The caret is absent if the file ends too early. */
function syntaxPlace(above: string, cwd: string): string | undefined {
  const [, url = '', line, code = ''] = /^(file:.*):(\d+)\n((?:.*\n)*? *\^+$)?/m.exec(above) ?? []
  const path = pathOf(url)
  if (line === undefined || path === undefined) return undefined
  const caret = code.slice(code.lastIndexOf('\n') + 1)
  return `${shownPath(path, cwd)}:${line}${caret === '' ? '' : `:${caret.indexOf('^') + 1}`}`
}

/** Returns the path of the file outside of Sluice that called Sluice in this stack; undefined if there is none. */
export function callerFile(stack: string): string | undefined {
  return strategyFrames(stack)[0]?.path
}

/** Returns the frames of the strategy and its libraries. Only code in the folders of `ENGINE` calls strategies.
 *  Therefore, the first frame in another folder of Sluice ends the list: this frame belongs to the caller of the
 *  engine, for example a test. */
function strategyFrames(stack: string): Frame[] {
  const frames: Frame[] = []
  for (const text of stack.split('\n')) {
    const [, name = '', location = '', line = '', column = ''] = FRAME.exec(text) ?? []
    const path = location === '' || location.startsWith('node:') ? undefined : pathOf(location)
    if (path === undefined) continue
    if (!isSluice(path)) frames.push({ name, path, line, column })
    else if (!ENGINE.some((folder) => path.startsWith(folder))) break
  }
  return frames
}

function isSluice(path: string): boolean {
  return SLUICE.some((folder) => path.startsWith(folder)) && !FOREIGN.some((folder) => path.startsWith(folder))
}

function pathOf(location: string): string | undefined {
  if (!location.startsWith('file://')) return location.replace(/\?instance=\d+$/, '')
  try {
    return fileURLToPath(location.replace(/[?#].*/, ''))
  } catch {
    return undefined
  }
}

function placeOf({ path, line, column }: Frame, cwd: string): string {
  return `${shownPath(path, cwd)}:${line}:${column}`
}

/** Returns the path relative to `cwd` if the file is below `cwd`. A long path is cut at its beginning. */
export function shownPath(path: string, cwd: string): string {
  const below = relative(cwd, path)
  const isBelow = below !== '' && below !== '..' && !below.startsWith(`..${sep}`)
  return (isBelow ? below : path).slice(-LONGEST_FRAME)
}

function frameText(frame: Frame, cwd: string): string {
  const place = placeOf(frame, cwd)
  return frame.name === '' ? place : `${frame.name.slice(0, LONGEST_FRAME)} (${place})`
}

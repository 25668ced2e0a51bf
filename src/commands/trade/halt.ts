import type { Options } from '../options.ts'
import { steer } from './steer.ts'

export async function run(_args: string[], options: Options): Promise<number> {
  return steer({ command: 'halt' }, options)
}

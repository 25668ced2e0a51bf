import { defineCommand, PROCESS } from '../options.ts'
import { control } from './control.ts'

export const command = defineCommand({
  options: PROCESS,
  run: (_args, process) => control({ command: 'flatten' }, process),
})

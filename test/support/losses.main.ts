import { LOSSES } from './losses.ts'
import { recordPaperRun } from './paper-run.ts'

const [journal = '', config = '', rows = ''] = process.argv.slice(2)
await recordPaperRun(journal, config, LOSSES.slice(0, Number(rows)), 'kill -9')

import { runHash } from './recorded-run.ts'

process.stdout.write(JSON.stringify(runHash(Number(process.argv[2]), Number(process.argv[3]))))

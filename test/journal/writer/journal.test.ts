import { openJournal } from '../../../src/journal/writer/journal.ts'
import { journalContract } from '../../contracts/journal.contract.ts'

journalContract('the writer in this process', openJournal)

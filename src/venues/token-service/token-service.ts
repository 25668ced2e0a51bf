import type { Venue } from '../venue.ts'
import { CaptureImporter, CaptureReader, captureWriter, messageLinesOf } from './capture.ts'
import { CloudExecutor } from './cloud-executor.ts'
import { ENDPOINTS, headersOf, STREAM_PATH, urlOf } from './endpoints.ts'
import { Feed } from './feed.ts'
import { firstPlan, PREMIUM, planOf, STANDARD } from './plans.ts'
import { TransactionBuilder } from './transaction-builder.ts'
import { signaturePathOf } from './wire/answers.ts'
import { readBuiltReply } from './wire/built-reply.ts'
import { readRequest } from './wire/requests.ts'

/** Creates the venue of the documented token service. It has a WebSocket feed, and an HTTPS interface that executes
 *  trades or builds transactions. `name`: its name in messages. */
export function tokenService(name: string): Venue {
  return {
    name,
    amountCurrency: 'SOL',
    plans: { published: [STANDARD, PREMIUM], first: firstPlan, named: planOf },
    captures: {
      linesOf: messageLinesOf,
      reader: () => new CaptureReader(),
      importer: (deliverRows) => new CaptureImporter(deliverRows),
      writer: captureWriter,
    },
    probe: {
      request: (record, key, { baseUrl, apiKey }) => ({
        method: ENDPOINTS[record].method,
        url: urlOf(baseUrl, record, key),
        headers: headersOf(apiKey()),
      }),
      signaturePathOf,
    },
    served: { endpoints: ENDPOINTS, streamPath: STREAM_PATH, plans: [STANDARD, PREMIUM] },
    transactions: { readReply: readBuiltReply, readRequest },
    openFeed: (parts) => new Feed(name, parts),
    openExecutor: (parts) => new CloudExecutor(parts),
    openBuilder: (parts) => new TransactionBuilder(parts),
  }
}

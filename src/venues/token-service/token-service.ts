import type { Venue, VenueTerms } from '../venue.ts'
import { CaptureImporter, CaptureReader, captureWriter, messageLinesOf } from './capture.ts'
import { CloudExecutor } from './cloud-executor.ts'
import { ENDPOINTS, headersOf, STREAM_PATH, urlOf } from './endpoints.ts'
import { Feed } from './feed.ts'
import { TransactionBuilder } from './transaction-builder.ts'
import { signaturePathOf } from './wire/answers.ts'
import { readBuiltReply } from './wire/built-reply.ts'
import { readRequest } from './wire/requests.ts'

/** Creates the venue for the documented token service, which has a WebSocket feed, and an HTTPS interface that executes
 *  trades or builds transactions. */
export function tokenService(terms: VenueTerms): Venue {
  return {
    ...terms,
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
    served: { endpoints: ENDPOINTS, streamPath: STREAM_PATH, plans: terms.plans.published },
    transactions: { readReply: readBuiltReply, readRequest },
    openFeed: (parts) => new Feed(terms.name, parts),
    openExecutor: (parts) => new CloudExecutor(parts),
    openBuilder: (parts) => new TransactionBuilder(parts),
  }
}

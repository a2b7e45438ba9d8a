import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Digest } from '../workspace/catalog.ts'
import { etagOf, isHeld } from './etag.ts'
import { USUAL_HEADERS } from './guard.ts'
import { healthOf } from './health.ts'
import { endLine, jsonBody } from './json-body.ts'
import type { HttpNeeds } from './needs.ts'
import { heldByPlainRead } from './plain-read.ts'
import { inBatches } from './turn-batch.ts'

/** Answers the request, now or in a moment, or calls `otherwise`. */
export type AnswersFirst = (
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  otherwise: () => void,
) => void

interface ReadyAnswer {
  etag: string
  /** The headers of a 304, and of a 200. */
  same: string[]
  whole: string[]
  /** In bytes. */
  length: number
  body: string | readonly Uint8Array[]
}

interface Asked {
  /** Of the case; empty for the list. */
  id: string
  /** The ETags that the client holds. */
  held: string
  outgoing: ServerResponse
  otherwise: () => void
}

const HEALTH = '/health'
const LIST = '/cases'
const CASE = '/cases/'
const CASE_LENGTH = CASE.length + 36
/** Cases whose answer is kept with its ETag. */
const KEPT = 500

/**
 * Answers the two reads that come most often, one case and the list of all, and the health, which is asked
 * for before all else, without the app: to a plain request goes what that would answer, with the same
 * headers. Every other request, and what is not as it was read, is the app's.
 */
export function readyAnswers(service: HttpNeeds, port: () => number): AnswersFirst {
  const { catalog, upkeep } = service
  const known = new LRUCache<Digest, ReadyAnswer>({ max: KEPT })

  function ofCase(id: string): ReadyAnswer | null {
    const digest = catalog.digest(id)
    if (!digest) return null
    let answer = known.get(digest)
    if (!answer) {
      const body = endLine(digest.json)
      answer = readyAnswer(etagOf(body), Buffer.byteLength(body), body)
      known.set(digest, answer)
    }
    return answer
  }

  function ofList(): ReadyAnswer {
    const body = service.catalog.listJson()
    return readyAnswer(etagOf(body), body.length, [body])
  }

  /**
   * What came in one turn of the event loop shares one look at the stamps of a case, made after the last
   * of it came; in the second turn, what the kernel had to tell by then was read.
   */
  const askCase = inBatches<Asked>((batch) => {
    const answers = new Map<string, ReadyAnswer | null>()
    for (const asked of batch) {
      const { id } = asked
      let answer = answers.get(id)
      if (answer === undefined) {
        answer = unlessFailing(() =>
          upkeep.isUntouched(id) || upkeep.isStill(id) ? ofCase(id) : null,
        )
        answers.set(id, answer)
      }
      send(asked, answer)
    }
  })

  const askList = inBatches<Asked>(async (batch) => {
    if (!upkeep.isCurrent()) {
      try {
        await upkeep.current()
      } catch {
        for (const { otherwise } of batch) otherwise() // where it fails again, and is told
        return
      }
    }
    const answer = unlessFailing(ofList)
    for (const asked of batch) send(asked, answer)
  })

  async function askHealth({ outgoing, otherwise }: Asked): Promise<void> {
    let body: Buffer
    try {
      body = Buffer.from(jsonBody(await healthOf(service)))
    } catch {
      otherwise() // where it fails again, and is told
      return
    }
    outgoing.writeHead(200, [...contentOf(body.length), ...USUAL_HEADERS.flat()]).end(body)
  }

  return (incoming, outgoing, otherwise) => {
    const url = incoming.url ?? ''
    const isCase = url.length === CASE_LENGTH && url.startsWith(CASE)
    const isReady = isCase || url === LIST || url === HEALTH
    const held = isReady ? heldByPlainRead(incoming, port()) : null
    if (held === null) otherwise()
    else if (url === HEALTH) void askHealth({ id: '', held, outgoing, otherwise })
    else if (isCase) askCase({ id: url.slice(CASE.length), held, outgoing, otherwise })
    else askList({ id: '', held, outgoing, otherwise })
  }
}

/** What fails here fails in the app as well, which says so. */
function unlessFailing<T>(find: () => T): T | null {
  try {
    return find()
  } catch {
    return null
  }
}

function readyAnswer(etag: string, length: number, body: ReadyAnswer['body']): ReadyAnswer {
  const same = ['etag', etag, ...USUAL_HEADERS.flat()]
  return { etag, same, whole: [...contentOf(length), ...same], length, body }
}

/** `length` in bytes. */
function contentOf(length: number): string[] {
  return ['content-type', 'application/json', 'content-length', String(length)]
}

function send({ outgoing, held, otherwise }: Asked, answer: ReadyAnswer | null): void {
  if (answer === null) {
    otherwise()
    return
  }
  const { etag, same, whole, length, body } = answer
  if (held !== '' && isHeld(held, etag)) {
    outgoing.writeHead(304, same).end()
    return
  }
  outgoing.writeHead(200, whole)
  if (typeof body === 'string') {
    // goes out in one piece with the head; and as it is, where each character is one byte
    outgoing.end(body, body.length === length ? 'latin1' : 'utf8')
    return
  }
  for (const part of body) outgoing.write(part)
  outgoing.end()
}

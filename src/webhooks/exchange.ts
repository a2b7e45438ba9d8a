/** One HTTP request to a receiver, with limits for connection, answer and size. */

import { type Agent, type ClientRequest, type IncomingMessage, request as send } from 'node:http'
import { request as sendSecurely } from 'node:https'
import type { LookupFunction } from 'node:net'

const DRAIN = { bytes: 64 * 1024, ms: 1000 }
/** How much of a body is stored, for a person who reads about the failure. */
const KEPT_BYTES = 4096
const MAX_INTERIM = 10
/** For each address of a name that has several; node's own 250 ms are short for a far one. */
const CONNECT_MS = 3000

export interface Exchange {
  url: URL
  headers: Record<string, string>
  body: Buffer
  lookup: LookupFunction
  /** False for a separate connection. */
  agent: Agent | false
  signal: AbortSignal
}

export interface Answer {
  status: number
  headers: IncomingMessage['headers']
  /** The beginning of the body. */
  beginning: Buffer
  /** When its headers were there, as `performance.now()` tells. */
  at: number
}

/** No answer. `stale`: a kept connection that the receiver closed before it saw the request. */
export interface Unanswered {
  failure: Error
  stale: boolean
}

/**
 * One POST. Resolves once its connection is at rest or gone, and never throws for what came back.
 *
 * With the headers the answer is decided: of its body a little is read, and an abort only cuts that
 * short. Before them an abort is the failure. Redirects are answers like others.
 */
export function exchange(wanted: Exchange): Promise<Answer | Unanswered> {
  const { url, headers, body, lookup, agent, signal } = wanted
  const start = url.protocol === 'https:' ? sendSecurely : send
  const connecting = { autoSelectFamily: true, autoSelectFamilyAttemptTimeout: CONNECT_MS }
  return new Promise((resolve) => {
    const request = start(url, { method: 'POST', headers, lookup, agent, ...connecting })
    let answer: Answer | undefined
    let failure: Error | undefined
    const heard = hearing(request)
    const onAbort = () => request.destroy()
    request.on('response', (response) => {
      answer = answerOf(response)
      drain(request, response, answer)
    })
    // Who changes the protocol has not taken the event.
    request.on('upgrade', (response, socket) => {
      answer = answerOf(response)
      socket.destroy()
    })
    limitInterim(request)
    // After the answer it tells of the body, which says nothing of the delivery.
    request.on('error', (error) => {
      failure ??= error
    })
    request.on('close', () => {
      signal.removeEventListener('abort', onAbort)
      if (answer) return resolve(answer)
      failure ??= errorOf('ECONNRESET', 'closed without an answer')
      resolve({ failure, stale: request.reusedSocket && !heard() && isReset(failure) })
    })
    signal.addEventListener('abort', onAbort)
    if (signal.aborted) onAbort()
    request.end(body)
  })
}

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  return { status: statusCode, headers, beginning: Buffer.alloc(0), at: performance.now() }
}

/** Reads the body's beginning. What is longer, slower, or came before the request was read loses its connection. */
function drain(request: ClientRequest, response: IncomingMessage, answer: Answer): void {
  let bytes = 0
  const timer = setTimeout(() => request.destroy(), DRAIN.ms)
  request.on('close', () => clearTimeout(timer))
  response.on('error', () => {}) // a body that was cut: the answer counts all the same
  response.on('data', (chunk: Buffer) => {
    const room = KEPT_BYTES - answer.beginning.length
    if (room > 0) answer.beginning = Buffer.concat([answer.beginning, chunk.subarray(0, room)])
    bytes += chunk.length
    if (bytes > DRAIN.bytes) request.destroy()
  })
}

/** Interim answers (1xx) may come without end. */
function limitInterim(request: ClientRequest): void {
  let count = 0
  request.on('information', () => {
    count += 1
    if (count <= MAX_INTERIM) return
    request.destroy(errorOf('TOO_MANY_INTERIM_ANSWERS', `more than ${MAX_INTERIM} came`))
  })
}

/** Tells whether anything came back. */
function hearing(request: ClientRequest): () => boolean {
  let heard = false
  request.on('socket', (socket) => {
    socket.once('data', () => {
      heard = true
    })
  })
  return () => heard
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE')
}

function errorOf(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}

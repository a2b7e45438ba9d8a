/** Sends one delivery, and says how the attempt ended. `receiver.ts` decides whether and when to try again. */

import { setMaxListeners } from 'node:events'
import { Agent } from 'node:http'
import { Agent as SecureAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Attempt } from '../model/delivery.ts'
import { type Answer, exchange } from './exchange.ts'
import { failureInWords, outcomeOf } from './outcome.ts'
import { hostOf, type Lookup, lookupAll, parseTarget, requireAllowed } from './targets.ts'

/** One request to a receiver. */
export interface Post {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
  /** Ends it early; the attempt is then void, not failed: the promise rejects. */
  signal: AbortSignal
}

export interface Sender {
  /** Never rejects for what a receiver or the network does: that is in the attempt. */
  send(post: Post): Promise<Attempt>
  /** Closes the idle connections. */
  close(): void
}

/** Connections are kept for the next delivery; an idle one keeps no process alive. */
const KEPT = { keepAlive: true, maxFreeSockets: 5, timeout: 30_000 }

export interface SenderOptions {
  /** The port where this service listens, once it does. */
  ownPort: () => number | null
  version: string
  /** For all of it: the name, the connection, TLS, the answer. */
  timeoutMs?: number
  lookup?: Lookup
}

export function createSender(options: SenderOptions): Sender {
  const { timeoutMs = 15_000 } = options
  const agents = { http: new Agent(KEPT), https: new SecureAgent(KEPT) }
  return {
    async send(post) {
      post.signal.throwIfAborted()
      const at = new Date().toISOString()
      const began = performance.now()
      const attempt = (outcome: Omit<Attempt, 'at' | 'ms'>, end = performance.now()): Attempt => ({
        at,
        ms: Math.round(end - began),
        ...outcome,
      })
      const ending = endOnDemand(post.signal, timeoutMs)
      try {
        const url = parseTarget(post.url)
        const answer = await ask(url, post, ending.signal)
        return attempt(outcomeOf(answer, url), answer.at)
      } catch (failure) {
        post.signal.throwIfAborted()
        const late = `no answer within ${timeoutMs / 1000} s`
        const error = ending.isLate() ? late : failureInWords(failure)
        return attempt({ status: null, error, retry_after_ms: null })
      } finally {
        ending.clear()
      }
    },
    close() {
      for (const { freeSockets } of Object.values(agents)) {
        for (const socket of Object.values(freeSockets).flat()) socket?.destroy()
      }
    },
  }

  async function ask(url: URL, { headers, body }: Post, signal: AbortSignal): Promise<Answer> {
    // What is an address already is not looked up.
    const host = hostOf(url)
    if (isIP(host)) requireAllowed(url, [host], options.ownPort())
    const wanted = {
      url,
      body,
      signal,
      lookup: checkedLookup(url, options),
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': String(body.length),
        'user-agent': `Casefile/${options.version}`,
      },
    }
    const agent = url.protocol === 'https:' ? agents.https : agents.http
    const first = await exchange({ ...wanted, agent })
    if ('status' in first) return first
    if (!first.stale || signal.aborted) throw first.failure
    const second = await exchange({ ...wanted, agent: false })
    if ('status' in second) return second
    throw second.failure
  }
}

/**
 * Gives a connection the addresses of a name only after it has checked them, and asks for them once:
 * a name that leads elsewhere a moment later (DNS rebinding) leads nowhere.
 */
function checkedLookup(
  url: URL,
  { ownPort, lookup = lookupAll }: Pick<SenderOptions, 'ownPort' | 'lookup'>,
): LookupFunction {
  const checked = async (name: string) => {
    const found = await lookup(name)
    // Of an empty list node makes an error that nobody can catch.
    if (found.length === 0) throw Object.assign(new Error(name), { code: 'ENOTFOUND' })
    const addresses = found.map(({ address }) => address)
    requireAllowed(url, addresses, ownPort())
    return [...found]
  }
  // `autoSelectFamily` asks for all of them.
  return (name, _, callback) => {
    checked(name).then(
      (found) => callback(null, found),
      (error) => callback(error, []),
    )
  }
}

/** A signal that ends with another one, or when the time is up. */
function endOnDemand(signal: AbortSignal, timeoutMs: number) {
  const ending = new AbortController()
  let late = false
  const onAbort = () => ending.abort()
  const timer = setTimeout(() => {
    late = true
    ending.abort()
  }, timeoutMs)
  setMaxListeners(0, signal) // one signal may end any number of requests
  signal.addEventListener('abort', onAbort)
  return {
    signal: ending.signal,
    isLate: () => late,
    clear() {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    },
  }
}

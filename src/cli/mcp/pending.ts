import { isSpecType, type JSONRPCMessage, type RequestId } from '@modelcontextprotocol/server'
import type { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import type { ErrorMessage } from './message-lines.ts'

export interface Pending {
  /** When all that was asked for is answered. */
  none(): Promise<void>
  /** To whom sent what is no request that could be answered. */
  refuse(error: ErrorMessage): void
  /** What these requests are answered goes out as one, and with it this. */
  batch(requests: readonly RequestId[], refused: readonly ErrorMessage[]): void
}

interface Batch {
  left: Set<RequestId>
  answers: unknown[]
}

/** Requests that have no answer yet, but for those that stay open by their nature. */
export function watchPending(transport: StdioServerTransport): Pending {
  const pending = new Set<RequestId>()
  const batches = new Set<Batch>()
  const { onmessage } = transport
  // an error without an id, and several answers as one, are JSON-RPC too, though not among the SDK's types
  const send = transport.send.bind(transport) as (message: unknown) => Promise<void>
  let onNone = () => {}

  async function answer({ left, answers }: Batch): Promise<void> {
    if (left.size === 0 && answers.length > 0) await send(answers)
  }

  /** Of a request that was cancelled there is no answer. */
  async function settle(id: RequestId, ...answers: unknown[]): Promise<void> {
    const batch = [...batches].find(({ left }) => left.delete(id))
    if (batch) {
      batch.answers.push(...answers)
      if (batch.left.size === 0) batches.delete(batch)
      await answer(batch)
    } else for (const each of answers) await send(each)
    pending.delete(id)
    if (pending.size === 0) onNone()
  }

  transport.onmessage = (message: JSONRPCMessage) => {
    if ('method' in message && 'id' in message && message.method !== 'subscriptions/listen') {
      pending.add(message.id)
    }
    onmessage?.(message)
    if (!isSpecType.CancelledNotification(message)) return
    const { requestId } = message.params
    if (requestId !== undefined) settle(requestId).catch(goneAlready)
  }
  transport.send = async (message: JSONRPCMessage) => {
    if ('method' in message || message.id === undefined) await send(message)
    else await settle(message.id, message)
  }

  return {
    none: () =>
      new Promise((resolve) => {
        onNone = resolve
        if (pending.size === 0) resolve()
      }),
    refuse(error) {
      send(error).catch(goneAlready)
    },
    batch(requests, refused) {
      const batch = { left: new Set(requests), answers: [...refused] }
      if (requests.length > 0) batches.add(batch)
      else answer(batch).catch(goneAlready)
    },
  }
}

/** Who reads no more: the transport ends by it, and so does the process. */
function goneAlready(): void {}

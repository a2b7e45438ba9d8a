/** Keeps one webhook for each entry of `notify` in casefile.md, and sends to it what such a receiver reads. */

import type { Envelope } from '../events/envelope.ts'
import { createKeyedMutex } from '../files/keyed-mutex.ts'
import type { Attempt } from '../model/delivery.ts'
import type { EventFields } from '../model/events.ts'
import type { NotifyKind, NotifyTarget } from '../model/settings.ts'
import type { Webhook } from '../model/webhook.ts'
import { showOnDesktop } from './desktop.ts'
import type { Message } from './message.ts'
import { expandUrl, notificationOf, render, testNotification } from './notification.ts'
import type { Sender } from './sender.ts'

export interface NotifyDeps {
  /** The entries that are trusted now. */
  targets(): Promise<readonly NotifyTarget[]>
  environment: NodeJS.ProcessEnv
  /** The name of its folder. */
  workspace: string
  /** The branch of the working folder of a case. */
  branchOf(caseId: string): Promise<string | null>
  /** Why nothing is to be sent: the case no longer waits for this, or a person has seen the plan. Else null. */
  whyNot(payload: EventFields<'attention_needed'>): Promise<string | null>
}

interface Registered {
  list(): Webhook[]
  add(target: NotifyTarget, cursor: number): void
  remove(id: string): void
}

export interface NotifyTargets {
  /** Adds what casefile.md has now, to get events after `cursor`, and removes what it has not. */
  sync(cursor: number): Promise<void>
  send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt>
}

export function createNotifyTargets(
  { targets, environment, workspace, branchOf, whyNot }: NotifyDeps,
  registered: Registered,
  sender: Sender,
  /** The address of the service in links. */
  base: (kind: NotifyKind) => string,
): NotifyTargets {
  const turns = createKeyedMutex()

  function sync(cursor: number): Promise<void> {
    return turns.run('', async () => {
      const wanted = await targets()
      const present = registered.list()
      const isOf = ({ kind, url }: NotifyTarget) => {
        return (each: Webhook) => each.notify === kind && each.url === url
      }
      for (const each of present) {
        if (!wanted.some((target) => isOf(target)(each))) registered.remove(each.id)
      }
      for (const target of wanted) {
        if (!present.some(isOf(target))) registered.add(target, cursor)
      }
    })
  }

  async function send(webhook: Webhook, message: Message, signal: AbortSignal): Promise<Attempt> {
    const { event_type, payload } = JSON.parse(message.envelope) as Envelope
    const isTest = event_type === 'ping'
    const waiting = payload as EventFields<'attention_needed'>
    // an entry that is gone, or no longer trusted, gets nothing more
    if (!(await targets()).some(({ kind, url }) => kind === webhook.notify && url === webhook.url))
      return unsent('it is no longer in casefile.md, or not trusted')
    const reason = isTest ? null : await whyNot(waiting)
    if (reason !== null) return unsent(reason)
    const kind = webhook.notify!
    const shown = isTest
      ? testNotification(workspace, base(kind))
      : notificationOf(waiting, { workspace, branch: await branchOf(waiting.case_id) }, base(kind))
    if (kind === 'desktop') return showOnDesktop(shown, environment)
    const address = expandUrl(webhook.url, environment)
    if (!address.ok) return unsent(`the variable ${address.missing} is not set`, false)
    const { headers, body } = render(kind, shown)
    return sender.send({ url: address.url, headers, body: Buffer.from(body), signal })
  }

  return { sync, send }
}

function unsent(error: string, isFinal = true): Attempt {
  const at = new Date().toISOString()
  return { at, ms: 0, status: null, error, retry_after_ms: null, ...(isFinal ? { isFinal } : {}) }
}

import type { EventLog } from '../events/event-log.ts'
import type { KeyedMutex } from '../files/keyed-mutex.ts'
import type { WebhookFiles } from '../workspace/webhooks/webhook-files.ts'
import type { LogKeeping } from './log-keeping.ts'
import type { Registered } from './registered.ts'
import type { Room } from './room.ts'

/** How webhooks end: by request, or with their case. */
export interface Endings {
  /** Nothing is sent any more, and all that is kept of it goes. */
  remove(id: string): Promise<void>
  /** The webhooks of a case that was deleted get what was told of it so far, and end. */
  endOfCase(caseId: string): Promise<void>
  /** Called when a receiver has nothing left to do: ends it where that was all. */
  endIfDone(each: Registered): void
}

interface EndingNeeds {
  all: Map<string, Registered>
  files: WebhookFiles
  mutex: KeyedMutex
  keeping: LogKeeping
  room: Room
  eventLog: Pick<EventLog, 'last'>
  log(line: string): void
}

export function createEndings(needs: EndingNeeds): Endings {
  const { all, files, mutex, keeping, room, eventLog, log } = needs

  /** A journal that is written once more meanwhile is removed at the next start. */
  function remove(id: string): Promise<void> {
    return mutex.run(id, async () => {
      const each = all.get(id)
      if (!each) return
      const { webhook } = each
      each.webhook = { ...webhook, active: false }
      try {
        await files.remove(id)
      } catch (error) {
        each.webhook = { ...each.webhook, active: webhook.active }
        each.receiver.wake()
        throw error
      }
      all.delete(id)
      keeping.keep()
      room.freed()
      await each.receiver.close(0)
    })
  }

  function endIfDone({ webhook, receiver, book }: Registered): void {
    const { id, ends_after, active } = webhook
    if (ends_after === null) return
    const isDone = receiver.progress().cursor >= ends_after && book.of('retrying').size === 0
    if (active && !isDone) return
    remove(id).catch((error: unknown) => log(`webhook ${id} could not be removed: ${error}`))
  }

  /** The case is gone already: what the disk refuses is said, and holds up neither the others nor this one. */
  async function endOfCase(caseId: string): Promise<void> {
    const ending = [...all.values()].filter(({ webhook }) => webhook.case_id === caseId)
    const ends_after = eventLog.last
    for (const each of ending) each.webhook = { ...each.webhook, ends_after }
    for (const each of ending) {
      const { id } = each.webhook
      try {
        await mutex.run(id, () => (all.has(id) ? files.write(each.webhook) : undefined))
      } catch (error) {
        log(`webhook ${id}: that it ends with its case is not kept: ${error}`)
      }
      each.receiver.wake()
      endIfDone(each)
    }
  }

  return { remove, endIfDone, endOfCase }
}

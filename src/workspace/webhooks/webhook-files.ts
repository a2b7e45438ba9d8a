import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { makeFolder, syncFolder, writeDurable } from '../../files/durable-write.ts'
import { hasCode } from '../../files/errno.ts'
import { entriesIn } from '../../files/folder-names.ts'
import { createKeyedMutex } from '../../files/keyed-mutex.ts'
import { decodeUtf8 } from '../../files/safe-read.ts'
import { storageRefusal } from '../../files/storage-refusal.ts'
import { removeTempFiles } from '../../files/temp-files.ts'
import type { Webhook } from '../../model/webhook.ts'
import { UUID } from '../../model/words.ts'
import { moveAside, type RepairNeeds } from '../log/log-repair.ts'
import { readOrSetAside } from './journal-reading.ts'

/**
 * The webhooks of a workspace, secrets included: `<id>.json` each, and beside it the journal of its
 * receiver. What is called for one webhook is done in the order of the calls.
 */
export interface WebhookFiles {
  /**
   * Every registration that can be read, to be called once, before anything is written; clears away
   * what a service that died had only half written or half removed. A damaged registration is set
   * aside and said in the log. Its journal stays: put back mended, with its name, it goes on there.
   */
  all(): Promise<Webhook[]>
  /** Durable, whole or not at all. */
  write(webhook: Webhook): Promise<void>
  /** The registration, durably, and then its journal; also what was set aside of either. */
  remove(id: string): Promise<void>
  journalPath(id: string): string
}

const MAX_BYTES = 16 * 1024 * 1024
const NAME = /^([0-9a-f-]{36})\.(json|deliveries\.jsonl)(\.damaged-.+)?$/

const TIME = z.iso.datetime({ offset: true })
const ID_IN_LOG = z.number().int().nonnegative()
/** What may be missing is what was not there from the first. */
const REGISTRATION = z.object({
  id: z.string(),
  case_id: z.string().min(1).nullable(),
  url: z.string().min(1),
  events: z.array(z.string()),
  earlier_events: z.array(z.object({ events: z.array(z.string()), up_to: ID_IN_LOG })).default([]),
  secret: z.string().min(1),
  previous_secret: z
    .object({ secret: z.string().min(1), until: TIME })
    .nullable()
    .default(null),
  active: z.boolean(),
  disabled: z
    .object({ reason: z.enum(['gone', 'failing']), at: TIME })
    .nullable()
    .default(null),
  starts_after: ID_IN_LOG,
  ends_after: ID_IN_LOG.nullable().default(null),
  created_at: TIME,
  updated_at: TIME.optional(),
})

export function createWebhookFiles(folder: string, needs: RepairNeeds): WebhookFiles {
  const turns = createKeyedMutex()
  const registrationPath = (id: string) => join(folder, `${id}.json`)

  async function read(id: string): Promise<Webhook | null> {
    const path = registrationPath(id)
    const bytes = await readOrSetAside(path, MAX_BYTES, needs)
    if (!bytes) return null
    const found = registrationOf(bytes, id)
    if (typeof found !== 'string') return found
    const aside = await moveAside(path, needs)
    needs.log(
      `the registration ${id}.json of a webhook is damaged (${found}), so nothing is sent to it: now ${aside}. Mend it, give it its name back, and start the service again.`,
    )
    return null
  }

  /** Journals whose registration is neither there nor set aside. */
  async function removeOrphans(): Promise<void> {
    const files = await filesIn(folder)
    const registered = new Set(files.filter(({ kind }) => kind === 'json').map(({ id }) => id))
    for (const { name, id } of files) {
      if (registered.has(id)) continue
      const isGone = await unlinkFile(join(folder, name))
      if (isGone) needs.log(`${name} was removed: its webhook is no more`)
    }
  }

  async function removeAll(id: string): Promise<void> {
    const files = (await filesIn(folder)).filter((file) => file.id === id)
    const registrations = files.filter(({ kind }) => kind === 'json')
    // The longer names first: one that was set aside would keep the journal, should we die here.
    for (const { name } of registrations.reverse()) await unlinkFile(join(folder, name))
    if (registrations.length) await syncFolder(folder)
    for (const { name, kind } of files) if (kind !== 'json') await unlinkFile(join(folder, name))
  }

  return {
    async all() {
      await removeTempFiles([folder])
      const webhooks: Webhook[] = []
      for (const { id, kind, isAside } of await filesIn(folder)) {
        const webhook = kind === 'json' && !isAside ? await read(id) : null
        if (webhook) webhooks.push(webhook)
      }
      await removeOrphans()
      return webhooks
    },
    write(webhook) {
      const bytes = Buffer.from(`${JSON.stringify(webhook, null, 2)}\n`)
      return turns.run(webhook.id, async () => {
        await makeFolder(folder, 0o700)
        await writeDurable(registrationPath(webhook.id), bytes, { mode: 0o600 })
      })
    },
    remove: (id) => turns.run(id, () => removeAll(id)),
    journalPath: (id) => join(folder, `${id}.deliveries.jsonl`),
  }
}

/** What is wrong with it, in words that show nothing of what is in it. */
function registrationOf(bytes: Buffer, id: string): Webhook | string {
  const text = decodeUtf8(bytes)
  if (!text.ok) return 'not UTF-8'
  try {
    const { data, error } = REGISTRATION.safeParse(JSON.parse(text.text))
    if (error) return error.issues.map(({ path }) => path.join('.') || 'no object').join(', ')
    if (data.id !== id) return 'its id is not its name'
    return { ...data, updated_at: data.updated_at ?? data.created_at }
  } catch (error) {
    if (error instanceof SyntaxError) return 'not JSON'
    throw error
  }
}

interface OwnFile {
  name: string
  id: string
  kind: 'json' | 'deliveries.jsonl'
  isAside: boolean
}

/** By name; those of others are not looked at. */
async function filesIn(folder: string): Promise<OwnFile[]> {
  return (await entriesIn(folder)).sort().flatMap((name) => {
    const [, id = '', kind, aside] = NAME.exec(name) ?? []
    if (!UUID.test(id)) return []
    return { name, id, kind: kind as OwnFile['kind'], isAside: aside !== undefined }
  })
}

/** Says whether it did: a folder of that name stays, as nothing of ours is in it. */
async function unlinkFile(path: string): Promise<boolean> {
  try {
    await unlink(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EISDIR')) return false
    throw storageRefusal(error, path)
  }
}

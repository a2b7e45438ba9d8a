import { Hono } from 'hono'
import { Refusal } from '../model/refusal.ts'
import { checkCaseFile, checkSessionFile } from '../sessions/whole-file.ts'
import {
  listMemory,
  MAX_MEMORY_BYTES,
  memoryName,
  memoryPath,
  readMemory,
  writeMemory,
} from '../workspace/memory-files.ts'
import { readBytes } from './body.ts'
import type { ServiceEnv } from './context.ts'
import { bytesWithETag, etagOf, jsonWithETag, requireMatch } from './etag.ts'
import type { HttpNeeds } from './needs.ts'
import { caseId } from './params.ts'

/** `/cases/:id/memory` (specification §4.4): markdown files as they are, byte for byte. */
export function memoryRoutes(service: HttpNeeds): Hono<ServiceEnv> {
  const { store, layout } = service
  const app = new Hono<ServiceEnv>()

  app.get('/', async (c) => {
    return jsonWithETag(c, await listMemory(layout, await store.read(caseId(c))))
  })

  app.get('/:filename', async (c) => {
    const id = caseId(c)
    const filename = c.req.param('filename')
    const folder = await store.read(id)
    const read = await readMemory(layout, id, memoryName(filename, folder))
    if (!read.ok) throw unreadable(filename, read.reason)
    return bytesWithETag(c, read.bytes, 'text/markdown; charset=utf-8')
  })

  app.put('/:filename', async (c) => {
    const id = caseId(c)
    const filename = c.req.param('filename')
    const bytes = await readBytes(c, MAX_MEMORY_BYTES)
    const made = await store.alone(id, async (folder, wrote) => {
      const name = memoryName(filename, folder)
      const present = await readMemory(layout, id, name)
      if (!present.ok && present.reason !== 'missing') throw unreadable(filename, present.reason)
      requireMatch(c, present.ok ? etagOf(present.bytes) : null)
      if (name.kind === 'case') await checkCaseFile(folder, bytes)
      if (name.kind === 'session')
        await checkSessionFile(service.sessionTexts, folder, name.number, bytes)
      if (present.ok && present.bytes.equals(bytes)) return false
      await writeMemory(service, id, name, { bytes, present: present.ok ? present.bytes : null })
      wrote(memoryPath(layout, id, name))
      return !present.ok
    })
    const headers = {
      etag: etagOf(bytes),
      ...(made ? { location: `/cases/${id}/memory/${filename}` } : {}),
    }
    return c.json({ filename, size: bytes.byteLength }, made ? 201 : 200, headers)
  })

  return app
}

function unreadable(filename: string, reason: string): Refusal {
  if (reason === 'missing') {
    return new Refusal('not_found', `There is no memory file ${filename}. PUT writes one.`)
  }
  const why = {
    symbolic_link: 'it is a symbolic link, which is not followed',
    not_a_file: 'it is no regular file',
    too_large: 'it is over 10 MiB',
  }[reason]
  return new Refusal(
    'unreadable_file',
    `${filename} is not read or written: ${why ?? 'the disk or its permissions do not allow it'}. Put a plain file in its place.`,
  )
}

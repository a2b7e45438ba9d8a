import * as z from 'zod'
import { count, time } from '../../model/schemas.ts'
import type { JsonOf } from './primitives.ts'

export const memoryFile = z
  .object({
    filename: z.string(),
    kind: z.enum(['case', 'session', 'notes']).describe('`notes` is any other file.'),
    size: count.describe('In bytes.'),
    updated_at: time,
  })
  .meta({
    id: 'MemoryFile',
    examples: [
      {
        filename: 'runbook.md',
        kind: 'notes',
        size: 950,
        updated_at: '2026-11-20T09:53:00.000Z',
      },
    ],
  })

export const writtenFile = z
  .object({ filename: z.string(), size: count.describe('In bytes.') })
  .meta({ id: 'WrittenFile', examples: [{ filename: 'runbook.md', size: 53 }] })

export type MemoryFileJson = JsonOf<typeof memoryFile>
export type WrittenFileJson = JsonOf<typeof writtenFile>

import * as z from 'zod'
import type { JsonOf } from './primitives.ts'

/** What will hold the programs of a session. */
export const walls = z
  .object({
    guard: z
      .enum(['mount', 'comparison'])
      .describe(
        '`mount`: read-only mounts. `comparison`: the case files are compared before and after.',
      ),
    reason: z.string().nullable().describe('Why there are no mounts; null with them.'),
    writes: z
      .array(z.string())
      .nullable()
      .describe('What the programs can write to, for people; null if nothing limits that.'),
    hides: z.array(z.string()).nullable().describe('What they do not see.'),
    hosts: z
      .array(z.string())
      .nullable()
      .describe('The only hosts that they can reach; null if nothing limits that.'),
    text: z.string().describe('All of this in words, as the console shows it.'),
    objection: z
      .string()
      .nullable()
      .describe('Why an approval would be refused: what limits the hosts is missing.'),
  })
  .meta({
    id: 'Walls',
    examples: [
      {
        guard: 'mount',
        reason: null,
        writes: ['the working folder', 'temporary folders', '~/.npm'],
        hides: ['the memory root', '~/.ssh'],
        hosts: null,
        text: 'The programs can write only to: the working folder, temporary folders, ~/.npm; cannot see: the memory root, ~/.ssh; network and other services as you have them.',
        objection: null,
      },
    ],
  })

export type WallsJson = JsonOf<typeof walls>

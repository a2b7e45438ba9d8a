import * as z from 'zod'
import { count, runMode, time } from '../../model/schemas.ts'

const usageCounts = {
  input_tokens: count.nullable().describe('Includes cached tokens.'),
  output_tokens: count.nullable().describe('Includes reasoning tokens.'),
  cached_tokens: count.nullable().describe('The part of `input_tokens` that came from the cache.'),
  cost_usd: z
    .number()
    .min(0)
    .nullable()
    .describe("The agent's own estimate; null if it gives none."),
}

/** What one run of the agent used. */
export const runUsage = z
  .object({
    mode: runMode,
    started_at: time,
    model: z
      .string()
      .nullable()
      .describe('Several models are separated by commas, the one with most tokens first.'),
    ...usageCounts,
  })
  .meta({ id: 'RunUsage' })

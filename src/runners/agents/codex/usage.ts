import { type AgentUsage, NO_USAGE, tokenSums } from '../agent-usage.ts'
import { linesWith } from '../hooks/transcript.ts'
import { asRecord } from '../unknown-record.ts'

/** It counts a conversation from its beginning, even if resumed, and does not name its model. */
export function codexUsage(counts: unknown): AgentUsage {
  const names = {
    input: ['input_tokens'],
    output: ['output_tokens'],
    cached: 'cached_input_tokens',
  }
  return { ...NO_USAGE, ...tokenSums(counts, names), cumulative: 'tokens' }
}

/** The totals in the last line of a transcript that has some. */
export async function transcriptUsage(transcript: string | null): Promise<AgentUsage> {
  const totals = (await linesWith(transcript, '"token_count"')).flatMap((line) => {
    const { type, info } = asRecord(asRecord(line).payload)
    return type === 'token_count' ? [asRecord(info).total_token_usage] : []
  })
  return codexUsage(totals.at(-1))
}

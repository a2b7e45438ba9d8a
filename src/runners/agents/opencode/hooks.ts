import { NO_USAGE, tokenSums } from '../agent-usage.ts'
import { answerClaude, denyClaude, isFromClaude, readClaudeEvent } from '../claude/hooks.ts'
import type { HookDialect } from '../hooks/hook-event.ts'
import { toolOf } from '../hooks/hook-tool.ts'
import { asRecord } from '../unknown-record.ts'
import { OPENCODE_TOOLS } from './tools.ts'

/** The plugin for opencode, which speaks Claude's words with the tools of opencode. */
export const opencodeDialect: HookDialect = {
  agent: 'opencode',
  isFrom: isFromClaude,
  async read(body, place) {
    const event = await readClaudeEvent(body, place, (name, input) =>
      toolOf(OPENCODE_TOOLS, name, input),
    )
    return 'kind' in event ? { ...event, used: asRecord(body.usage) } : event
  },
  answer: answerClaude,
  deny: denyClaude,
  carriesNotes: true,
  howToPlan: 'Hand in a plan with the tool submit_plan.',
  // the sums of the plugin
  async usage(_, event) {
    const counts = tokenSums(event?.used, {
      input: ['input_tokens'],
      output: ['output_tokens'],
      cached: 'cached_tokens',
    })
    return { ...NO_USAGE, ...counts, cumulative: 'tokens' }
  },
}

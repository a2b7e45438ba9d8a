import { NO_USAGE, tokenSums } from '../agent-usage.ts'
import { answerClaude, denyClaude, readClaudeEvent } from '../claude/hooks.ts'
import type { HookDialect } from '../hooks/hook-event.ts'
import { type ToolNames, toolOf } from '../hooks/tool-kinds.ts'
import { asRecord } from '../unknown-record.ts'

const TOOLS: ToolNames = {
  reading: ['glob', 'grep', 'list', 'lsp', 'read', 'webfetch', 'websearch', 'codesearch'],
  commands: ['bash'],
  harmless: ['question', 'skill', 'submit_plan', 'task', 'todoread', 'todowrite', 'invalid'],
  isPlanFile: () => false,
}

/** The plugin for opencode, which speaks Claude's words with the tools of opencode. */
export const opencode: HookDialect = {
  agent: 'opencode',
  async read(body, place) {
    const event = await readClaudeEvent(body, place, (name, input) => toolOf(TOOLS, name, input))
    return 'kind' in event ? { ...event, used: asRecord(body.usage) } : event
  },
  answer: answerClaude,
  deny: denyClaude,
  carriesNotes: true,
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

import type { StreamName } from '../../model/settings.ts'
import type { OpenStream } from './agent-stream.ts'
import { createClaudeStream } from './claude.ts'
import { createCodexStream } from './codex.ts'
import { createCopilotStream } from './copilot.ts'
import { createGeminiStream } from './gemini.ts'
import { createOpencodeStream } from './opencode.ts'
import { createPlainStream } from './plain.ts'

/** The output parsers by format name. */
export const STREAM_FORMATS: Readonly<Record<StreamName, OpenStream>> = {
  plain: createPlainStream,
  claude: createClaudeStream,
  codex: createCodexStream,
  gemini: createGeminiStream,
  opencode: createOpencodeStream,
  copilot: createCopilotStream,
}

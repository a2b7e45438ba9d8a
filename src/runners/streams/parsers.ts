import type { StreamName } from '../../model/settings.ts'
import { createClaudeParser } from './claude.ts'
import { createCodexParser } from './codex.ts'
import { createCopilotParser } from './copilot.ts'
import { createGeminiParser } from './gemini.ts'
import { createOpencodeParser } from './opencode.ts'
import type { CreateParser } from './output-parser.ts'
import { createPlainParser } from './plain.ts'

/** The output parsers by format name. */
export const PARSERS: Readonly<Record<StreamName, CreateParser>> = {
  plain: createPlainParser,
  claude: createClaudeParser,
  codex: createCodexParser,
  gemini: createGeminiParser,
  opencode: createOpencodeParser,
  copilot: createCopilotParser,
}

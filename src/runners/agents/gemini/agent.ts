import type { AgentFolder } from '../agent-folder.ts'
import { geminiDialect } from './hooks.ts'
import { geminiHooks } from './install.ts'
import { gemini } from './run.ts'

export const folder: AgentFolder = { run: gemini, hooks: geminiDialect, install: geminiHooks }

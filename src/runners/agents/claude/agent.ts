import type { AgentFolder } from '../agent-folder.ts'
import { claudeDialect } from './hooks.ts'
import { claudeHooks } from './install.ts'
import { claude } from './run.ts'

export const folder: AgentFolder = { run: claude, hooks: claudeDialect, install: claudeHooks }

import type { AgentFolder } from '../agent-folder.ts'
import { copilotDialect } from './hooks.ts'
import { copilotHooks } from './install.ts'
import { copilot } from './run.ts'

export const folder: AgentFolder = { run: copilot, hooks: copilotDialect, install: copilotHooks }

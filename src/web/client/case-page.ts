import { startCaseConflicts } from './case-conflict.ts'
import { startFolds } from './case-folds.ts'
import { startCaseWatch } from './case-watch.ts'
import { startMemoryEditor } from './memory-editor.ts'
import { startNewMemory } from './memory-new.ts'
import { startProofAttaching } from './proof-attach.ts'
import { startVerifying } from './proof-verify.ts'

/** What the pages of a case, of its proof and of its memory files do besides forms and live refresh. */
export function startCasePages(): void {
  startFolds()
  startCaseConflicts()
  startCaseWatch()
  startProofAttaching()
  startVerifying()
  startNewMemory()
  startMemoryEditor()
}

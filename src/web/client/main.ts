import { startConflicts, startVerifying } from './conflicts.tsx'
import { startDisclosures } from './disclosure.ts'
import { startForms } from './forms.tsx'
import { startKeys } from './keys.ts'
import { startList } from './list.ts'
import { startListReturn } from './list-return.ts'
import { startLive } from './live.ts'
import { startMemoryEditor } from './memory-editor.tsx'
import { startNewCase } from './new-case.ts'
import { startCopying, startNotices } from './notices.ts'
import { startProofAttaching } from './proof-attach.tsx'
import { startRestoringFocus } from './restore-focus.ts'
import { startSession } from './session.ts'
import { startTimes } from './times.ts'

document.documentElement.classList.add('js')
startForms()
startConflicts()
startNotices()
startRestoringFocus()
startDisclosures()
startKeys()
startCopying()
startProofAttaching()
startVerifying()
startMemoryEditor()
startTimes()
startList()
startListReturn()
startNewCase()
startSession()
startLive()

import { startCasePages } from './case-page.ts'
import { startCopying } from './copy.ts'
import { startFocusAfter } from './focus-after.ts'
import { startForms } from './forms.ts'
import { startKeys } from './keys.ts'
import { startList } from './list.ts'
import { startListReturn } from './list-return.ts'
import { startLive } from './live.ts'
import { startNewCase } from './new-case.ts'
import { startNotices } from './notices.ts'
import { startSession } from './session.ts'
import { startTimes } from './times.ts'

document.documentElement.classList.add('js')
startForms()
startNotices()
startFocusAfter()
startKeys()
startCopying()
startCasePages()
startTimes()
startList()
startListReturn()
startNewCase()
startSession()
startLive()

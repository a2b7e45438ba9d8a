/** What notifications need of the settings and the cases. */

import { basename, resolve } from 'node:path'
import { currentBranch } from '../git/repository-folders.ts'
import { sha256 } from '../markdown/session-file.ts'
import type { Problem } from '../model/problem.ts'
import type { Session, SessionTexts } from '../model/session.ts'
import { type NotifyTarget, SETTINGS_FILE, variablesIn } from '../model/settings.ts'
import { waitingOf } from '../model/waiting.ts'
import type { TrustedSettings } from '../settings/trusted-settings.ts'
import { desktopTrouble } from '../webhooks/desktop.ts'
import type { NotifyDeps } from '../webhooks/notify-targets.ts'
import type { Catalog } from '../workspace/index/catalog.ts'
import type { Redactor } from './redaction.ts'
import type { Secret } from './secrets.ts'
import type { SeenPlans } from './seen-plans.ts'

interface NotifyParts {
  root: string
  settings: () => Promise<TrustedSettings>
  environment: NodeJS.ProcessEnv
  redactor: Redactor
  catalog: Pick<Catalog, 'folder'>
  seenPlans: Pick<SeenPlans, 'isSoonSeen'>
  sessionTexts(caseId: string, session: Session): Promise<SessionTexts>
}

export function createNotifyDeps(parts: NotifyParts): NotifyDeps {
  const { root, settings, environment, redactor, catalog, seenPlans, sessionTexts } = parts
  return {
    environment,
    workspace: basename(root),
    async targets() {
      const { notify, trust } = await settings()
      redactor.learn(notify.flatMap((target) => secretsOf(target, environment)))
      return notify.filter(({ kind }) => kind === 'desktop' || trust === 'trusted')
    },
    branchOf: (caseId) => currentBranch(resolve(root, catalog.folder(caseId)?.case.workdir ?? '.')),
    async whyNot({ case_id, kind, session_id }) {
      const contents = catalog.folder(case_id)
      const waiting = contents && waitingOf(contents)
      if (waiting?.kind !== kind || waiting.session_id !== session_id)
        return 'it no longer waits, so nothing was sent'
      const session = contents?.sessions.find(({ id }) => id === session_id)
      if (kind !== 'plan' || !session) return null
      const { plan } = await sessionTexts(case_id, session)
      const isSeen = await seenPlans.isSoonSeen(session, sha256(plan))
      return isSeen ? 'the plan was seen, so nothing was sent' : null
    },
  }
}

const MIN_SECRET = 8

/** The values of its variables. Who knows the path of a Slack webhook can write to it, so that is one too. */
function secretsOf({ kind, url }: NotifyTarget, environment: NodeJS.ProcessEnv): Secret[] {
  const named = variablesIn(url).map((name) => ({ name, text: (environment[name] ?? '').trim() }))
  const isWhole = kind === 'slack' && named.length === 0
  const all = isWhole ? [...named, { name: 'notify', text: url }] : named
  return all.filter(({ text }) => text.length >= MIN_SECRET)
}

/** `desktop` where this machine has nothing to show it with. */
export function desktopProblems(
  { notify, lines }: Pick<TrustedSettings, 'notify' | 'lines'>,
  environment: NodeJS.ProcessEnv,
): Problem[] {
  if (!notify.some(({ kind }) => kind === 'desktop')) return []
  const trouble = desktopTrouble(environment)
  if (trouble === null) return []
  const message = `notify: desktop shows nothing: ${trouble}`
  return [
    {
      code: 'bad_settings',
      file: SETTINGS_FILE,
      line: lines.get('notify') ?? null,
      message,
    },
  ]
}

/** Recognizes copies of record files, which hold another version of what the service reads. */

/** The service itself: `case.conflict-20261120T095400.000Z.md`. */
const OWN = /\.conflict-\d{8}T\d{6}\.\d{3}Z(?:-\d+)?(?:\.[A-Za-z0-9]{1,16})?$/

const CONFLICT = 'konflikt|conflict|conflit|conflitto|конфликт|競合|冲突|衝突|충돌'
/** Endings that only sync programs make, before `.md`. */
const OF_SYNC = [
  /\.sync-conflict-\d{8}-\d{6}(?:-[a-z0-9]+)?$/i, // Syncthing
  // Dropbox, Nextcloud, Obsidian, Unison: `(… conflicted copy …)` in any language, or the word with a date
  new RegExp(
    `[ _-]?[([](?=[^()[\\]]*(?:${CONFLICT}))(?=[^()[\\]]*(?:cop|kop|копи|コピー|副本|拷貝|사본|\\d{4}-?\\d\\d|(?:sync|case|encoding|whitespace) ))[^()[\\]]*(?:\\(\\d+\\))?[)\\]]$`,
    'iu',
  ),
  / \(sfconflict [^()]*\)$/i, // Seafile
  /[ _]?\[conflict(?:ed)?(?: \(\d+\))?\]$/i, // Google Drive, pCloud
  /_conflict-\d{8}-\d{6}$/i, // ownCloud
]

const COPY_WORD =
  'copy|kopie|copie|copia|cópia|kopia|kopi|kopio|kopya|copi|kópia|копия|копія|コピー|のコピー|副本|的副本|拷貝|拷贝|복사본|사본'
/** Other endings of programs. People write them too, so they count only behind the name of a record file. */
const OF_PROGRAMS = [
  / ?\(\d{1,3}\)$/, // Windows, Google Drive, browsers
  / (?:[2-9]|[1-9]\d)$/, // macOS, iCloud
  new RegExp(`(?: |_)?(?:[-—–] ?)?(?:${COPY_WORD})(?: ?\\d{1,3}| ?\\(\\d{1,3}\\))?$`, 'iu'),
  new RegExp(`[ _]\\((?:[^()]* )?(?:${COPY_WORD})(?: \\d{1,3})?\\)$`, 'iu'), // GNOME, Xfce
  /[ ._-](?:orig|original|bak|backup|old)$/i,
  /~\d*$/,
  /_(?:[\p{L}\p{N}.-]+_)*conflict$/iu, // Synology
  /\.conflict(?:\d{1,3}| ?\(\d{1,3}\))?$/i, // Resilio, rclone
  /_(?:base|backup|local|remote)_\d+$/i, // git mergetool
  // OneDrive, which adds the name of the computer
  /-(?:[\p{L}\p{N}]+-)*(?:[\p{L}\p{N}]*(?:MacBook|iMac|ThinkPad)[\p{L}\p{N}]*(?:-[\p{L}\p{N}]+)*|Mac-?[Mm]ini|MBP|PC|Laptop|Desktop)(?:-\d+)?$/u,
]
const BEFORE =
  /^(?:copy|kopie|kopia|copie|copia|cópia|kopi|копия)(?: ?\(\d{1,3}\))?(?: (?:of|von|van|de|di|av|af))? /iu

/** OneDrive: `case-DESKTOP-7QK2M1A.md`. People write words in capitals too, such as these. */
const HOST = /-(?<host>[A-Z0-9]+(?:-[A-Z0-9]+)*)$/
const NO_HOST = new RegExp(
  `^(?:[\\d-]+|[A-Z]{1,2}|[A-Z]+-\\d+|(?:${[
    'README|READ-ME|TODO|TO-DO|NOTES?|FAQ|DRAFTS?|PLANS?|STUDY|REVIEW|SUMMARY|OVERVIEW|SPECS?|LOGS?|LAW|FILES?',
    'CHANGELOG|DESIGN|REPORT|DETAILS|API|SQL|RFC|ADR|PRD|WIP|HOTFIX|FIX|SECURITY|TESTS?|NEW|TEMP|TMP|EXAMPLES?',
    'TEMPLATE|USERS?|DEV|PROD|OPS|MEETINGS?|TIMELINE|IDEAS|QUESTIONS|ANSWERS|LINKS|CONTEXT|BACKGROUND|STATUS',
    'RISKS|INDEX|INFO|HOWTO|GUIDE|DOCS|DECISIONS|CLAUDE|AGENTS|GEMINI',
  ].join('|')})(?:-\\d+)?)$`,
)

/** The names of record files without `.md`, by folder of a case. */
const RECORDS: Record<string, RegExp> = {
  '': /^(?:case|history)$/i,
  sessions: /^(?:[1-9]\d{0,5}|latest)$/i,
  proof: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i,
}

/**
 * Whether a path, relative to a case's folder, is a copy that the service, a sync program or a file manager made of a
 * file beside it. It is a problem, and never read as what its name could also mean.
 */
export function isConflictCopy(path: string): boolean {
  if (OWN.test(path)) return true
  const [, folder = '', name = ''] = /^(?:(.*)\/)?([^/]*)\.md$/i.exec(path.normalize()) ?? []
  const isRecord = (stem: string) => RECORDS[folder]?.test(stem) === true
  let stem = name
  while (!isRecord(stem)) {
    if (OF_SYNC.some((ending) => ending.test(stem))) return true
    const rest = withoutEnding(stem)
    if (rest === stem) return false
    stem = rest
  }
  return stem !== name
}

function withoutEnding(stem: string): string {
  for (const ending of [...OF_PROGRAMS, BEFORE]) {
    const rest = stem.replace(ending, '')
    if (rest !== stem && rest !== '') return rest
  }
  const host = HOST.exec(stem)?.groups?.host
  return host === undefined || NO_HOST.test(host) ? stem : stem.slice(0, -host.length - 1)
}

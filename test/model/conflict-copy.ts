import t from 'tap'
import { isConflictCopy } from '../../src/model/conflict-copy.ts'

const ID = '1a6976d2-ff1c-4d71-8cd4-1f0e3f1f4a3b'

const copies: Record<string, string[]> = {
  Casefile: ['case.conflict-20261120T095400.000Z.md', 'notes.conflict-20261120T095400.000Z-2.md'],
  Syncthing: [
    'case.sync-conflict-20260112-003022-FUKIKK4.md',
    'notes.sync-conflict-20260112-003022-FUKIKK4.md',
    'case.sync-conflict-20260112-003022-FUKIKK4.sync-conflict-20260113-003022-ABCDEF1.md',
  ],
  Dropbox: [
    "case (Ada's conflicted copy 2026-11-28).md",
    'case (Ada’s conflicted copy 2026-11-28 (1)).md',
    'case (In Konflikt stehende Kopie von Ada 2026-11-28).md',
    'case (Copie en conflit de Ada 2026-11-28).md',
    'case (Case Conflict).md',
    'notes (Ada’s conflicted copy 2026-11-28).md',
  ],
  Nextcloud: ['case (conflicted copy 2026-01-12 003022).md'],
  ownCloud: ['case_conflict-20260112-003022.md'],
  Obsidian: ['case (Conflicted copy phone 202601120030).md'],
  Unison: ['case (copy: conflict 1 on 2026-01-12).md'],
  Seafile: ['case (SFConflict ada@example.com 2026-01-12-00-30-22).md'],
  Synology: ['case_DiskStation_Jan-12-003022-2026_Conflict.md'],
  'Resilio, rclone': ['case.Conflict.md', 'case.conflict1.md', 'case.conflict2.md'],
  pCloud: ['case [conflicted].md', 'case [conflicted (1)].md', 'case[Conflict].md'],
  OneDrive: [
    'case-HOSTNAME.md',
    'case-DESKTOP-7QK2M1A.md',
    'case-DESKTOP-7QK2M1A-2.md',
    'case-ADA-PC.md',
    'case-Adas-MacBook-Pro.md',
  ],
  'Google Drive, browsers': ['case (1).md', 'case (1) (1).md', 'case(1).md', 'Copy of case.md'],
  'macOS, iCloud': ['case 2.md', 'case 13.md', 'case copy.md', 'case copy 2.md', 'case Kopie.md'],
  Windows: ['case - Copy.md', 'case - Copy (2).md', 'case - Kopie.md', 'case - 副本.md'],
  GNOME: ['case (copy).md', 'case (another copy).md', 'case (3rd copy).md', 'case (Kopie).md'],
  'Xfce, KDE': ['case (copy 1).md', 'case (2).md'],
  'other languages': [
    'case のコピー.md',
    'case — копия.md',
    'Kopie von case.md',
    'Copia de case.md',
  ],
  'git, editors': ['case_BASE_123.md', 'case_REMOTE_4711.md', 'case.orig.md', 'case~.md'],
  'by hand': ['case-backup.md', 'case.bak.md', 'case_old.md'],
  'in another case': ['Case 2.md', 'CASE (1).MD'],
  'the history': ['history 2.md', 'history (1).md', 'history - Copy.md'],
  sessions: ['sessions/1 2.md', 'sessions/12 (1).md', 'sessions/latest copy.md'],
  proof: [`proof/${ID} 2.md`, `proof/Copy of ${ID}.md`],
}

t.test('a copy that a program made of a record file is known by its name', async (t) => {
  for (const [program, names] of Object.entries(copies)) {
    await t.test(program, async (t) => {
      for (const name of names) t.ok(isConflictCopy(name), name)
    })
  }
})

t.test('a file of a person stays one', async (t) => {
  const names = [
    ...['case.md', 'history.md', 'notes.md', 'runbook.md', 'sessions/1.md', `proof/${ID}.md`],
    ...['case-study.md', 'case study.md', 'case study 2.md', 'case-study (1).md', 'use case 2.md'],
    ...['case 2 notes.md', 'case notes.md', 'case v2.md', 'case-1.md', 'case-2-3.md', 'case1.md'],
    ...['case 2026.md', 'case 12345.md', 'case (2026).md', 'case (draft).md', 'old case.md'],
    ...['case-TODO.md', 'case-README.md', 'case-NOTES.md', 'case-PROJ-12.md', 'case-API.md'],
    ...['case (conflict of interest).md', 'case-for-change.md', 'showcase.md', 'case law.md'],
    ...['case-upcoming.md', 'case-desktop-layout.md', 'edge case.md', 'case-sensitive.md'],
    ...['notes 2.md', 'notes (1).md', 'notes copy.md', 'Copy of notes.md', 'notes.conflict.md'],
    ...['conflict.md', 'merge conflict.md', 'resolve_conflict.md', 'how to copy.md', 'copy.md'],
    ...['case 2.txt', 'history of copies.md', '1 2.md', 'photocopy.md', 'backup.md'],
  ]
  for (const name of names) t.notOk(isConflictCopy(name), name)
})

import type { Problem } from '../model/problem.ts'
import type { FoundFolders } from '../settings/workspace-folders.ts'
import type { Database } from '../state/database.ts'
import { folderProblems, stateProblems } from '../state/state-problems.ts'
import type { Scan } from '../workspace/scan.ts'
import { desktopProblems } from './notify-deps.ts'
import { agentFileProblems, type findInstalledAgents } from './start-checks.ts'

interface ProblemsDeps extends Pick<FoundFolders, 'root' | 'settings'> {
  installedAgents: Awaited<ReturnType<typeof findInstalledAgents>>
  scan: Pick<Scan, 'unknownEntries'>
  database: Database
  environment: NodeJS.ProcessEnv
}

/** Finds the problems that belong to no case. */
export async function findWorkspaceProblems(deps: ProblemsDeps): Promise<Problem[]> {
  const present = await deps.settings()
  return [
    ...present.problems,
    ...(await agentFileProblems(deps.root, deps.installedAgents, present.files)),
    ...deps.scan.unknownEntries(),
    ...stateProblems(deps.database),
    ...(await folderProblems(deps.root)),
    ...desktopProblems(present, deps.environment),
  ]
}

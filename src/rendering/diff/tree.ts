export interface TreeFolder<File> {
  /** Several names, such as `src/web`, if each of the folders has only the next one. */
  name: string
  folders: TreeFolder<File>[]
  files: { name: string; file: File }[]
}

/** Pure. The files by folder, folders first, each sorted by name. */
export function buildTree<File>(
  files: readonly File[],
  pathOf: (file: File) => string,
): TreeFolder<File> {
  const root: TreeFolder<File> = { name: '', folders: [], files: [] }
  const known = new Map([['', root]])
  const folderAt = (path: string): TreeFolder<File> => {
    const found = known.get(path)
    if (found) return found
    const cut = path.lastIndexOf('/')
    const made: TreeFolder<File> = { name: path.slice(cut + 1), folders: [], files: [] }
    known.set(path, made)
    folderAt(cut < 0 ? '' : path.slice(0, cut)).folders.push(made)
    return made
  }
  for (const file of files) {
    const path = pathOf(file)
    const cut = path.lastIndexOf('/')
    const folder = folderAt(cut < 0 ? '' : path.slice(0, cut))
    folder.files.push({ name: path.slice(cut + 1), file })
  }
  return { ...sorted(root), name: '' }
}

function sorted<File>(folder: TreeFolder<File>): TreeFolder<File> {
  const folders = folder.folders.map(sorted).sort(byName)
  const [only] = folders
  if (only && folders.length === 1 && folder.files.length === 0 && folder.name !== '') {
    return { ...only, name: `${folder.name}/${only.name}` }
  }
  return { name: folder.name, folders, files: folder.files.sort(byName) }
}

function byName(a: { name: string }, b: { name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0
}

/** Pure. All files, as the tree shows them from top to bottom. */
export function filesInOrder<File>(folder: TreeFolder<File>): File[] {
  return [...folder.folders.flatMap(filesInOrder), ...folder.files.map(({ file }) => file)]
}

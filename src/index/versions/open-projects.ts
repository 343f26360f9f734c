/** The projects of an index by their ids. */
export class OpenProjects<P> extends Map<string, P> {
  /** Throws unless the project is open. */
  opened(projectId: string): P {
    const project = this.get(projectId);
    if (project === undefined) throw new Error("the project is not open");
    return project;
  }
}

/**
 * SQL: the default strategies that contain a value at a JSON path: in `name` the words for the strategy in error messages, such as `the
 * default strategy of production in project shop`, in `project` the id of its project. Features that are enabled get these strategies, so
 * the objects to which they refer must exist.
 */
const defaultStrategiesWith = (path: string, value: string): string => `
  select 'the default strategy of ' || environment || ' in project ' || project as name, project from project_environment
  where jsonb_path_exists(default_strategy, '${path} ? (@ == $value)', jsonb_build_object('value', ${value}))`;

/** SQL: the default strategies that use a segment. */
export const defaultStrategiesWithSegment = (id: string): string => defaultStrategiesWith('$.segments[*]', id);

/** SQL: the default strategies with a constraint on a context field. */
export const defaultStrategiesWithField = (name: string): string =>
  defaultStrategiesWith('$.constraints[*].contextName', name);

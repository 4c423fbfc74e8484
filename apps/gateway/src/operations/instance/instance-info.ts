/** Facts about this installation. */
export interface InstanceInfo {
  /** the version of Bunting */
  readonly version: string;
  /** public URL; empty if not configured */
  readonly publicUrl: string;
  /** The URL of a page of the console, for links in mails and responses. */
  readonly pageUrl: (path: string) => string;
  /** origins of pages that may call the frontend API; `*` for every origin */
  readonly frontendOrigins: readonly string[];
  /** maximum bytes of the body of an import */
  readonly maxImportBytes: number;
}

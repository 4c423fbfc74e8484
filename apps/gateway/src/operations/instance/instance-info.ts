/** What the gateway knows of this installation. */
export interface InstanceInfo {
  /** of Bunting */
  readonly version: string;
  /** where people find it; empty when it does not know */
  readonly publicUrl: string;
  /** of pages that may call the frontend API; `*` for every one */
  readonly frontendOrigins: readonly string[];
  /** what tells this installation from others: the same on every replica, and for as long as the database lives */
  readonly id: () => Promise<string>;
}

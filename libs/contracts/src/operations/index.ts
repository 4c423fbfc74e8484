import type { AnyOperation } from '../operation.ts';
import { AddChanges } from './change-requests/add-changes.ts';
import { ListPendingChangeRequests } from './change-requests/list-pending-change-requests.ts';
import { AddComment } from './change-requests/add-comment.ts';
import { ChangeState } from './change-requests/change-state.ts';
import { CountActionable } from './change-requests/count-actionable.ts';
import { CountChangeRequests } from './change-requests/count-change-requests.ts';
import { DiscardChange } from './change-requests/discard-change.ts';
import { DiscardDraft } from './change-requests/discard-draft.ts';
import { EditChange } from './change-requests/edit-change.ts';
import { GetChangeRequest } from './change-requests/get-change-request.ts';
import { GetChangeRequestConfig } from './change-requests/get-config.ts';
import { ListChangeRequests } from './change-requests/list-change-requests.ts';
import { ListOpenChangeRequests } from './change-requests/list-open-change-requests.ts';
import { ListPendingOfFeature } from './change-requests/list-pending-of-feature.ts';
import { SetChangeRequestConfig } from './change-requests/set-config.ts';
import { PreviewChangeRequest } from './change-requests/preview-change-request.ts';
import { PreviewProposal } from './change-requests/preview-proposal.ts';
import { RevertChangeRequest } from './change-requests/revert-change-request.ts';
import { ListScheduled } from './change-requests/list-scheduled.ts';
import { ListAvailableReviewers } from './change-requests/list-available-reviewers.ts';
import { GetApprovers } from './change-requests/get-approvers.ts';
import { SetApprovers } from './change-requests/set-approvers.ts';
import { SearchChangeRequests } from './change-requests/search-change-requests.ts';
import { SetTitle } from './change-requests/set-title.ts';
import { GetClientFeature } from './delivery/get-client-feature.ts';
import { GetClientFeatures } from './delivery/get-client-features.ts';
import { GetFrontendFeatures } from './delivery/get-frontend-features.ts';
import { EvaluateFrontendFeatures } from './delivery/evaluate-frontend-features.ts';
import { RegisterFrontendApplication } from './usage/register-frontend-application.ts';
import { ReportFrontendMetrics } from './usage/report-frontend-metrics.ts';
import { SearchEvents } from './events/search-events.ts';
import { FeedEvents } from './events/feed-events.ts';
import { FindEvents } from './events/find-events.ts';
import { GetEventLogSize } from './events/get-event-log-size.ts';
import { ListDeadLetters } from './events/list-dead-letters.ts';
import { ListEvents } from './events/list-events.ts';
import { ListEventsOfFeature } from './events/list-events-of-feature.ts';
import { ListEventCreators } from './events/list-event-creators.ts';
import { VerifyEvents } from './events/verify-events.ts';
import { ArchiveFeature } from './features/archive-feature.ts';
import { CreateFeature } from './features/create-feature.ts';
import { DisableEnvironment } from './features/disable-environment.ts';
import { EnableEnvironment } from './features/enable-environment.ts';
import { GetFeature } from './features/get-feature.ts';
import { ImportFeatures } from './features/import-features.ts';
import { ListFeatures } from './features/list-features.ts';
import { CreateProject } from './projects/create-project.ts';
import { ListProjects } from './projects/list-projects.ts';
import { AddFeatureLink } from './links/add-feature-link.ts';
import { RemoveFeatureLink } from './links/remove-feature-link.ts';
import { UpdateFeatureLink } from './links/update-feature-link.ts';
import { GetProjectInsights } from './projects/get-project-insights.ts';
import { GetProjectDora } from './projects/get-project-dora.ts';
import { GetProjectStatus } from './projects/get-project-status.ts';
import { GetPersonalDashboard } from './projects/get-personal-dashboard.ts';
import { GetPersonalDashboardProject } from './projects/get-personal-dashboard-project.ts';
import { FindFlagCreators } from './projects/find-flag-creators.ts';
import { CloneEnvironment } from './environments/clone-environment.ts';
import { GetReindex } from './search/get-reindex.ts';
import { SearchFeatures } from './search/search-features.ts';
import { StartReindex } from './search/start-reindex.ts';
import { CreateSegment } from './segments/create-segment.ts';
import { GetSegment } from './segments/get-segment.ts';
import { ListSegments } from './segments/list-segments.ts';
import { AddStrategy } from './strategies/add-strategy.ts';
import { PatchStrategy } from './strategies/patch-strategy.ts';
import { AddFeatureTag } from './tags/add-feature-tag.ts';
import { ListFeatureTags } from './tags/list-feature-tags.ts';
import { RemoveFeatureTag } from './tags/remove-feature-tag.ts';
import { ListStrategies } from './strategies/list-strategies.ts';
import { GetStrategy } from './strategies/get-strategy.ts';
import { GetFeatureEnvironment } from './environments/get-feature-environment.ts';
import { UpdateStrategy } from './strategies/update-strategy.ts';
import { DeleteStrategy } from './strategies/delete-strategy.ts';
import { SetStrategyOrder } from './strategies/set-strategy-order.ts';
import { UpdateFeature } from './features/update-feature.ts';
import { PatchFeature } from './features/patch-feature.ts';
import { ArchiveFeatures } from './archive/archive-features.ts';
import { ValidateArchive } from './archive/validate-archive.ts';
import { ReviveFeature } from './archive/revive-feature.ts';
import { ReviveFeatures } from './archive/revive-features.ts';
import { DeleteFeature } from './archive/delete-feature.ts';
import { DeleteFeatures } from './archive/delete-features.ts';
import { ListArchivedFeatures } from './archive/list-archived-features.ts';
import { ListArchivedFeaturesOfProject } from './archive/list-archived-features-of-project.ts';
import { SetStale } from './features/set-stale.ts';
import { ValidateFeatureName } from './features/validate-feature-name.ts';
import { CloneFeature } from './features/clone-feature.ts';
import { MoveFeature } from './features/move-feature.ts';
import { EnableEnvironmentsInBulk } from './environments/enable-environments-in-bulk.ts';
import { DisableEnvironmentsInBulk } from './environments/disable-environments-in-bulk.ts';
import { AddDependency } from './dependencies/add-dependency.ts';
import { RemoveDependency } from './dependencies/remove-dependency.ts';
import { RemoveDependencies } from './dependencies/remove-dependencies.ts';
import { ListPossibleParents } from './dependencies/list-possible-parents.ts';
import { ListParentVariants } from './dependencies/list-parent-variants.ts';
import { HasDependencies } from './dependencies/has-dependencies.ts';
import { CountLifecycles } from './lifecycle/count-lifecycles.ts';
import { GetLifecycle } from './lifecycle/get-lifecycle.ts';
import { CompleteFeature } from './lifecycle/complete-feature.ts';
import { UncompleteFeature } from './lifecycle/uncomplete-feature.ts';
import { AddFavoriteFeature } from './favorites/add-favorite-feature.ts';
import { RemoveFavoriteFeature } from './favorites/remove-favorite-feature.ts';
import { GetFeatureVariants } from './variants/get-feature-variants.ts';
import { GetEnvironmentVariants } from './variants/get-environment-variants.ts';
import { SetEnvironmentVariants } from './variants/set-environment-variants.ts';
import { PatchEnvironmentVariants } from './variants/patch-environment-variants.ts';
import { SetFeatureVariants } from './variants/set-feature-variants.ts';
import { PatchFeatureVariants } from './variants/patch-feature-variants.ts';
import { SetVariantsInBatch } from './variants/set-variants-in-batch.ts';
import { CreateTagType } from './tag-types/create-tag-type.ts';
import { DeleteTagType } from './tag-types/delete-tag-type.ts';
import { GetTagType } from './tag-types/get-tag-type.ts';
import { ListTagTypes } from './tag-types/list-tag-types.ts';
import { UpdateTagType } from './tag-types/update-tag-type.ts';
import { ValidateTagType } from './tag-types/validate-tag-type.ts';
import { CreateTag } from './tags/create-tag.ts';
import { DeleteTag } from './tags/delete-tag.ts';
import { GetTag } from './tags/get-tag.ts';
import { ListTagsOfType } from './tags/list-tags-of-type.ts';
import { ListTags } from './tags/list-tags.ts';
import { TagFeaturesInBulk } from './tags/tag-features-in-bulk.ts';
import { UpdateFeatureTags } from './tags/update-feature-tags.ts';
import { UpdateSegment } from './segments/update-segment.ts';
import { DeleteSegment } from './segments/delete-segment.ts';
import { ValidateSegmentName } from './segments/validate-segment-name.ts';
import { ListStrategiesOfSegment } from './segments/list-strategies-of-segment.ts';
import { ListSegmentsOfStrategy } from './segments/list-segments-of-strategy.ts';
import { SetStrategySegments } from './segments/set-strategy-segments.ts';
import { CreateContextField } from './context/create-context-field.ts';
import { DeleteContextField } from './context/delete-context-field.ts';
import { GetContextField } from './context/get-context-field.ts';
import { ListContextFields } from './context/list-context-fields.ts';
import { ListStrategiesOfContextField } from './context/list-strategies-of-context-field.ts';
import { UpdateContextField } from './context/update-context-field.ts';
import { SetLegalValue } from './context/set-legal-value.ts';
import { RemoveLegalValue } from './context/remove-legal-value.ts';
import { ValidateConstraint } from './context/validate-constraint.ts';
import { ValidateContextFieldName } from './context/validate-context-field-name.ts';
import { RegisterApplication } from './usage/register-application.ts';
import { ReportMetrics } from './usage/report-metrics.ts';
import { ReportMetricsInBulk } from './usage/report-metrics-in-bulk.ts';
import { GetFeatureUsage } from './usage/get-feature-usage.ts';
import { GetRawFeatureMetrics } from './usage/get-raw-feature-metrics.ts';
import { ListApplications } from './usage/list-applications.ts';
import { GetApplication } from './usage/get-application.ts';
import { GetApplicationOverview } from './usage/get-application-overview.ts';
import { ListApplicationInstances } from './usage/list-application-instances.ts';
import { DescribeApplication } from './usage/describe-application.ts';
import { DeleteApplication } from './usage/delete-application.ts';
import { ListProjectApplications } from './usage/list-project-applications.ts';
import { ListOutdatedSdks } from './usage/list-outdated-sdks.ts';
import { ExportFeatures } from './features/export-features.ts';
import { GetProjectHealth } from './projects/get-project-health.ts';
import { GetProjectOverview } from './projects/get-project-overview.ts';
import { GetProject } from './projects/get-project.ts';
import { UpdateProject } from './projects/update-project.ts';
import { UpdateProjectSettings } from './projects/update-project-settings.ts';
import { ArchiveProject } from './projects/archive-project.ts';
import { ReviveProject } from './projects/revive-project.ts';
import { DeleteProject } from './projects/delete-project.ts';
import { ValidateProjectId } from './projects/validate-project-id.ts';
import { ListFlagCreators } from './projects/list-flag-creators.ts';
import { AddProjectEnvironment } from './projects/add-project-environment.ts';
import { RemoveProjectEnvironment } from './projects/remove-project-environment.ts';
import { SetDefaultStrategy } from './projects/set-default-strategy.ts';
import { AddFavoriteProject } from './favorites/add-favorite-project.ts';
import { RemoveFavoriteProject } from './favorites/remove-favorite-project.ts';
import { ListEnvironments } from './environments/list-environments.ts';
import { GetEnvironment } from './environments/get-environment.ts';
import { ListEnvironmentsOfProject } from './environments/list-environments-of-project.ts';
import { CreateEnvironment } from './environments/create-environment.ts';
import { UpdateEnvironment } from './environments/update-environment.ts';
import { DeleteEnvironment } from './environments/delete-environment.ts';
import { ValidateEnvironmentName } from './environments/validate-environment-name.ts';
import { SetEnvironmentOrder } from './environments/set-environment-order.ts';
import { SwitchEnvironmentOn } from './environments/switch-environment-on.ts';
import { SwitchEnvironmentOff } from './environments/switch-environment-off.ts';
import { CreateStrategyType } from './strategies/create-strategy-type.ts';
import { DeleteStrategyType } from './strategies/delete-strategy-type.ts';
import { DeprecateStrategyType } from './strategies/deprecate-strategy-type.ts';
import { GetStrategyType } from './strategies/get-strategy-type.ts';
import { ReactivateStrategyType } from './strategies/reactivate-strategy-type.ts';
import { UpdateStrategyType } from './strategies/update-strategy-type.ts';
import { ListStrategyTypes } from './strategies/list-strategy-types.ts';
import { ListFeatureTypes } from './feature-types/list-feature-types.ts';
import { SetFeatureTypeLifetime } from './feature-types/set-feature-type-lifetime.ts';
import { ValidateImport } from './features/validate-import.ts';
import { ListUsers } from './access/list-users.ts';
import { CreateUser } from './access/create-user.ts';
import { SearchUsers } from './access/search-users.ts';
import { GetUiConfig } from './instance/get-ui-config.ts';
import { SetUiConfig } from './instance/set-ui-config.ts';
import { GetInstanceStatistics } from './instance/get-instance-statistics.ts';
import { GetInstanceStatisticsCsv } from './instance/get-instance-statistics-csv.ts';
import { GetTelemetrySettings } from './instance/get-telemetry-settings.ts';
import { GetMaintenance } from './instance/get-maintenance.ts';
import { ListUsersAndGroups } from './access/list-users-and-groups.ts';
import { CountAdmins } from './access/count-admins.ts';
import { ListInactiveUsers } from './access/list-inactive-users.ts';
import { DeleteInactiveUsers } from './access/delete-inactive-users.ts';
import { GetUserPermissions } from './access/get-user-permissions.ts';
import { GetUser } from './access/get-user.ts';
import { UpdateUser } from './access/update-user.ts';
import { DeleteUser } from './access/delete-user.ts';
import { ListUserTokens } from './access/list-user-tokens.ts';
import { CreateUserToken } from './access/create-user-token.ts';
import { DeleteUserToken } from './access/delete-user-token.ts';
import { GetMe } from './access/get-me.ts';
import { GetProfile } from './access/get-profile.ts';
import { GetUserRoles } from './access/get-user-roles.ts';
import { ListPats } from './access/list-pats.ts';
import { CreatePat } from './access/create-pat.ts';
import { DeletePat } from './access/delete-pat.ts';
import { ListServiceAccounts } from './access/list-service-accounts.ts';
import { CreateServiceAccount } from './access/create-service-account.ts';
import { UpdateServiceAccount } from './access/update-service-account.ts';
import { DeleteServiceAccount } from './access/delete-service-account.ts';
import { ListServiceAccountTokens } from './access/list-service-account-tokens.ts';
import { CreateServiceAccountToken } from './access/create-service-account-token.ts';
import { DeleteServiceAccountToken } from './access/delete-service-account-token.ts';
import { ListApiTokens } from './access/list-api-tokens.ts';
import { GetApiTokensByName } from './access/get-api-tokens-by-name.ts';
import { CreateApiToken } from './access/create-api-token.ts';
import { UpdateApiToken } from './access/update-api-token.ts';
import { DeleteApiToken } from './access/delete-api-token.ts';
import { ListProjectApiTokens } from './access/list-project-api-tokens.ts';
import { CreateProjectApiToken } from './access/create-project-api-token.ts';
import { DeleteProjectApiToken } from './access/delete-project-api-token.ts';
import { ListRoles } from './access/list-roles.ts';
import { GetRole } from './access/get-role.ts';
import { CreateRole } from './access/create-role.ts';
import { UpdateRole } from './access/update-role.ts';
import { DeleteRole } from './access/delete-role.ts';
import { ValidateRole } from './access/validate-role.ts';
import { ListPermissions } from './access/list-permissions.ts';
import { ListGroups } from './access/list-groups.ts';
import { GetGroup } from './access/get-group.ts';
import { CreateGroup } from './access/create-group.ts';
import { UpdateGroup } from './access/update-group.ts';
import { DeleteGroup } from './access/delete-group.ts';
import { GetProjectAccess } from './access/get-project-access.ts';
import { SetProjectAccess } from './access/set-project-access.ts';
import { AddProjectAccess } from './access/add-project-access.ts';
import { SetProjectUserRoles } from './access/set-project-user-roles.ts';
import { RemoveProjectUser } from './access/remove-project-user.ts';
import { SetProjectGroupRoles } from './access/set-project-group-roles.ts';
import { RemoveProjectGroup } from './access/remove-project-group.ts';

export * from './change-requests/add-changes.ts';
export * from './change-requests/check-changes.ts';
export * from './change-requests/list-pending-change-requests.ts';
export * from './change-requests/add-comment.ts';
export * from './change-requests/apply-changes.ts';
export * from './change-requests/change-state.ts';
export * from './change-requests/count-actionable.ts';
export * from './change-requests/count-change-requests.ts';
export * from './change-requests/discard-change.ts';
export * from './change-requests/discard-draft.ts';
export * from './change-requests/edit-change.ts';
export * from './change-requests/get-change-request.ts';
export * from './change-requests/get-config.ts';
export * from './change-requests/list-change-requests.ts';
export * from './change-requests/list-open-change-requests.ts';
export * from './change-requests/list-pending-of-feature.ts';
export * from './states/digest-states.ts';
export * from './states/list-state-versions.ts';
export * from './states/read-states.ts';
export * from './change-requests/preview-change-request.ts';
export * from './change-requests/preview-changes.ts';
export * from './change-requests/preview-proposal.ts';
export * from './change-requests/revert-change-request.ts';
export * from './change-requests/set-config.ts';
export * from './change-requests/list-segment-uses.ts';
export * from './change-requests/propose-import.ts';
export * from './change-requests/set-protection.ts';
export * from './change-requests/set-title.ts';
export * from './change-requests/list-scheduled.ts';
export * from './change-requests/list-available-reviewers.ts';
export * from './change-requests/get-approvers.ts';
export * from './change-requests/set-approvers.ts';
export * from './change-requests/search-change-requests.ts';
export * from './events/search-events.ts';
export * from './events/feed-events.ts';
export * from './events/find-events.ts';
export * from './events/get-event-log-size.ts';
export * from './events/list-dead-letters.ts';
export * from './events/list-events.ts';
export * from './events/list-events-of-feature.ts';
export * from './events/list-event-creators.ts';
export * from './events/verify-events.ts';
export * from './delivery/get-client-feature.ts';
export * from './delivery/get-client-features.ts';
export * from './delivery/get-frontend-features.ts';
export * from './delivery/evaluate-frontend-features.ts';
export * from './usage/register-frontend-application.ts';
export * from './usage/report-frontend-metrics.ts';
export * from './features/archive-feature.ts';
export * from './features/create-feature.ts';
export * from './features/disable-environment.ts';
export * from './features/enable-environment.ts';
export * from './features/get-feature.ts';
export * from './features/import-features.ts';
export * from './features/list-features.ts';
export * from './projects/create-project.ts';
export * from './projects/get-project-environments.ts';
export * from './access/count-members.ts';
export * from './access/count-tokens.ts';
export * from './access/hide-project.ts';
export * from './access/list-holders.ts';
export * from './instance/count-resources.ts';
export * from './instance/get-limits.ts';
export * from './access/list-users.ts';
export * from './access/create-user.ts';
export * from './access/search-users.ts';
export * from './instance/get-ui-config.ts';
export * from './instance/set-ui-config.ts';
export * from './instance/get-instance-statistics.ts';
export * from './instance/get-instance-statistics-csv.ts';
export * from './instance/get-telemetry-settings.ts';
export * from './instance/get-maintenance.ts';
export * from './access/list-users-and-groups.ts';
export * from './access/count-admins.ts';
export * from './access/list-inactive-users.ts';
export * from './access/delete-inactive-users.ts';
export * from './access/get-user-permissions.ts';
export * from './access/get-user.ts';
export * from './access/update-user.ts';
export * from './access/delete-user.ts';
export * from './access/list-user-tokens.ts';
export * from './access/create-user-token.ts';
export * from './access/delete-user-token.ts';
export * from './access/get-me.ts';
export * from './access/get-profile.ts';
export * from './access/get-user-roles.ts';
export * from './access/list-pats.ts';
export * from './access/create-pat.ts';
export * from './access/delete-pat.ts';
export * from './access/list-service-accounts.ts';
export * from './access/create-service-account.ts';
export * from './access/update-service-account.ts';
export * from './access/delete-service-account.ts';
export * from './access/list-service-account-tokens.ts';
export * from './access/create-service-account-token.ts';
export * from './access/delete-service-account-token.ts';
export * from './access/list-api-tokens.ts';
export * from './access/get-api-tokens-by-name.ts';
export * from './access/create-api-token.ts';
export * from './access/update-api-token.ts';
export * from './access/delete-api-token.ts';
export * from './access/list-project-api-tokens.ts';
export * from './access/create-project-api-token.ts';
export * from './access/delete-project-api-token.ts';
export * from './access/list-roles.ts';
export * from './access/get-role.ts';
export * from './access/create-role.ts';
export * from './access/update-role.ts';
export * from './access/delete-role.ts';
export * from './access/validate-role.ts';
export * from './access/list-permissions.ts';
export * from './access/list-groups.ts';
export * from './access/get-group.ts';
export * from './access/create-group.ts';
export * from './access/update-group.ts';
export * from './access/delete-group.ts';
export * from './access/get-project-access.ts';
export * from './access/set-project-access.ts';
export * from './access/add-project-access.ts';
export * from './access/set-project-user-roles.ts';
export * from './access/remove-project-user.ts';
export * from './access/set-project-group-roles.ts';
export * from './access/remove-project-group.ts';
export * from './access/get-users-access.ts';
export * from './projects/list-projects.ts';
export * from './search/get-reindex.ts';
export * from './search/search-features.ts';
export * from './search/start-reindex.ts';
export * from './segments/create-segment.ts';
export * from './segments/get-segment.ts';
export * from './segments/list-segments.ts';
export * from './strategies/add-strategy.ts';
export * from './strategies/patch-strategy.ts';
export * from './tags/add-feature-tag.ts';
export * from './tags/list-feature-tags.ts';
export * from './tags/remove-feature-tag.ts';
export * from './strategies/list-strategies.ts';
export * from './strategies/get-strategy.ts';
export * from './environments/get-feature-environment.ts';
export * from './strategies/update-strategy.ts';
export * from './strategies/delete-strategy.ts';
export * from './strategies/set-strategy-order.ts';
export * from './features/update-feature.ts';
export * from './features/patch-feature.ts';
export * from './archive/archive-features.ts';
export * from './archive/validate-archive.ts';
export * from './archive/revive-feature.ts';
export * from './archive/revive-features.ts';
export * from './archive/delete-feature.ts';
export * from './archive/delete-features.ts';
export * from './archive/list-archived-features.ts';
export * from './archive/list-archived-features-of-project.ts';
export * from './features/set-stale.ts';
export * from './features/validate-feature-name.ts';
export * from './features/clone-feature.ts';
export * from './features/move-feature.ts';
export * from './environments/enable-environments-in-bulk.ts';
export * from './environments/disable-environments-in-bulk.ts';
export * from './dependencies/add-dependency.ts';
export * from './dependencies/remove-dependency.ts';
export * from './dependencies/remove-dependencies.ts';
export * from './dependencies/list-possible-parents.ts';
export * from './dependencies/list-parent-variants.ts';
export * from './dependencies/has-dependencies.ts';
export * from './lifecycle/count-lifecycles.ts';
export * from './lifecycle/get-lifecycle.ts';
export * from './lifecycle/complete-feature.ts';
export * from './lifecycle/uncomplete-feature.ts';
export * from './favorites/add-favorite-feature.ts';
export * from './favorites/remove-favorite-feature.ts';
export * from './variants/get-feature-variants.ts';
export * from './variants/get-environment-variants.ts';
export * from './variants/set-environment-variants.ts';
export * from './variants/patch-environment-variants.ts';
export * from './variants/set-feature-variants.ts';
export * from './variants/patch-feature-variants.ts';
export * from './variants/set-variants-in-batch.ts';
export * from './tag-types/create-tag-type.ts';
export * from './tag-types/delete-tag-type.ts';
export * from './tag-types/get-tag-type.ts';
export * from './tag-types/list-tag-types.ts';
export * from './tag-types/update-tag-type.ts';
export * from './tag-types/validate-tag-type.ts';
export * from './tags/create-tag.ts';
export * from './tags/delete-tag.ts';
export * from './tags/get-tag.ts';
export * from './tags/list-tags-of-type.ts';
export * from './tags/list-tags.ts';
export * from './tags/tag-features-in-bulk.ts';
export * from './tags/update-feature-tags.ts';
export * from './segments/update-segment.ts';
export * from './segments/delete-segment.ts';
export * from './segments/validate-segment-name.ts';
export * from './segments/list-strategies-of-segment.ts';
export * from './segments/list-segments-of-strategy.ts';
export * from './segments/set-strategy-segments.ts';
export * from './context/create-context-field.ts';
export * from './context/delete-context-field.ts';
export * from './context/get-context-field.ts';
export * from './context/list-context-fields.ts';
export * from './context/list-strategies-of-context-field.ts';
export * from './context/update-context-field.ts';
export * from './context/set-legal-value.ts';
export * from './context/remove-legal-value.ts';
export * from './context/validate-constraint.ts';
export * from './context/validate-context-field-name.ts';
export * from './usage/register-application.ts';
export * from './usage/report-metrics.ts';
export * from './usage/report-metrics-in-bulk.ts';
export * from './usage/get-feature-usage.ts';
export * from './usage/get-raw-feature-metrics.ts';
export * from './usage/list-applications.ts';
export * from './usage/get-application.ts';
export * from './usage/get-application-overview.ts';
export * from './usage/list-application-instances.ts';
export * from './usage/describe-application.ts';
export * from './usage/delete-application.ts';
export * from './usage/list-project-applications.ts';
export * from './usage/list-outdated-sdks.ts';
export * from './features/export-features.ts';
export * from './projects/get-project-health.ts';
export * from './projects/get-project-overview.ts';
export * from './projects/get-project.ts';
export * from './projects/update-project.ts';
export * from './projects/update-project-settings.ts';
export * from './projects/archive-project.ts';
export * from './projects/revive-project.ts';
export * from './projects/delete-project.ts';
export * from './projects/validate-project-id.ts';
export * from './projects/list-flag-creators.ts';
export * from './projects/add-project-environment.ts';
export * from './projects/remove-project-environment.ts';
export * from './projects/set-default-strategy.ts';
export * from './favorites/add-favorite-project.ts';
export * from './favorites/remove-favorite-project.ts';
export * from './environments/list-environments.ts';
export * from './environments/get-environment.ts';
export * from './environments/list-environments-of-project.ts';
export * from './environments/create-environment.ts';
export * from './environments/update-environment.ts';
export * from './environments/delete-environment.ts';
export * from './environments/validate-environment-name.ts';
export * from './environments/set-environment-order.ts';
export * from './environments/switch-environment-on.ts';
export * from './environments/switch-environment-off.ts';
export * from './strategies/create-strategy-type.ts';
export * from './strategies/delete-strategy-type.ts';
export * from './strategies/deprecate-strategy-type.ts';
export * from './strategies/get-strategy-type.ts';
export * from './strategies/reactivate-strategy-type.ts';
export * from './strategies/update-strategy-type.ts';
export * from './strategies/list-strategy-types.ts';
export * from './feature-types/list-feature-types.ts';
export * from './feature-types/set-feature-type-lifetime.ts';
export * from './features/validate-import.ts';
export * from './links/add-feature-link.ts';
export * from './links/remove-feature-link.ts';
export * from './links/update-feature-link.ts';
export * from './events/get-project-activity.ts';
export * from './projects/get-project-insights.ts';
export * from './projects/get-project-dora.ts';
export * from './projects/get-project-status.ts';
export * from './projects/get-personal-dashboard.ts';
export * from './projects/get-personal-dashboard-project.ts';
export * from './projects/find-flag-creators.ts';
export * from './environments/clone-environment.ts';
export * from './access/copy-environment-permissions.ts';
export * from './paths.ts';

/** Every operation that answers HTTP; the gateway mounts exactly these. */
export const operations: readonly AnyOperation[] = [
  AddChanges,
  ListPendingChangeRequests,
  ListChangeRequests,
  ListOpenChangeRequests,
  ListPendingOfFeature,
  GetChangeRequest,
  DiscardDraft,
  ChangeState,
  SetTitle,
  AddComment,
  EditChange,
  DiscardChange,
  GetChangeRequestConfig,
  SetChangeRequestConfig,
  CountChangeRequests,
  CountActionable,
  PreviewChangeRequest,
  PreviewProposal,
  RevertChangeRequest,
  ListScheduled,
  ListAvailableReviewers,
  GetApprovers,
  SetApprovers,
  SearchChangeRequests,
  SearchEvents,
  FeedEvents,
  FindEvents,
  GetEventLogSize,
  ListDeadLetters,
  ListEvents,
  ListEventsOfFeature,
  ListEventCreators,
  VerifyEvents,
  ArchiveFeature,
  CreateFeature,
  DisableEnvironment,
  EnableEnvironment,
  GetFeature,
  ImportFeatures,
  ListFeatures,
  GetProjectInsights,
  GetProjectDora,
  GetProjectStatus,
  GetPersonalDashboard,
  GetPersonalDashboardProject,
  FindFlagCreators,
  CloneEnvironment,
  AddFeatureLink,
  UpdateFeatureLink,
  RemoveFeatureLink,
  CreateProject,
  ListProjects,
  SearchFeatures,
  StartReindex,
  GetReindex,
  CreateSegment,
  GetSegment,
  ListSegments,
  AddStrategy,
  PatchStrategy,
  AddFeatureTag,
  ListFeatureTags,
  RemoveFeatureTag,
  ListStrategies,
  GetStrategy,
  GetFeatureEnvironment,
  UpdateStrategy,
  DeleteStrategy,
  SetStrategyOrder,
  UpdateFeature,
  PatchFeature,
  ArchiveFeatures,
  ValidateArchive,
  ReviveFeature,
  ReviveFeatures,
  DeleteFeature,
  DeleteFeatures,
  ListArchivedFeatures,
  ListArchivedFeaturesOfProject,
  SetStale,
  ValidateFeatureName,
  CloneFeature,
  MoveFeature,
  EnableEnvironmentsInBulk,
  DisableEnvironmentsInBulk,
  AddDependency,
  RemoveDependency,
  RemoveDependencies,
  ListPossibleParents,
  ListParentVariants,
  HasDependencies,
  GetLifecycle,
  CountLifecycles,
  CompleteFeature,
  UncompleteFeature,
  AddFavoriteFeature,
  RemoveFavoriteFeature,
  GetFeatureVariants,
  GetEnvironmentVariants,
  SetEnvironmentVariants,
  PatchEnvironmentVariants,
  SetFeatureVariants,
  PatchFeatureVariants,
  SetVariantsInBatch,
  CreateTagType,
  DeleteTagType,
  GetTagType,
  ListTagTypes,
  UpdateTagType,
  ValidateTagType,
  CreateTag,
  DeleteTag,
  GetTag,
  ListTagsOfType,
  ListTags,
  TagFeaturesInBulk,
  UpdateFeatureTags,
  UpdateSegment,
  DeleteSegment,
  ValidateSegmentName,
  ListStrategiesOfSegment,
  ListSegmentsOfStrategy,
  SetStrategySegments,
  CreateContextField,
  DeleteContextField,
  GetContextField,
  ListContextFields,
  ListStrategiesOfContextField,
  UpdateContextField,
  SetLegalValue,
  RemoveLegalValue,
  ValidateConstraint,
  ValidateContextFieldName,
  GetClientFeatures,
  GetClientFeature,
  GetFrontendFeatures,
  EvaluateFrontendFeatures,
  RegisterFrontendApplication,
  ReportFrontendMetrics,
  RegisterApplication,
  ReportMetrics,
  ReportMetricsInBulk,
  GetFeatureUsage,
  GetRawFeatureMetrics,
  ListApplications,
  GetApplication,
  GetApplicationOverview,
  ListApplicationInstances,
  DescribeApplication,
  DeleteApplication,
  ListProjectApplications,
  ListOutdatedSdks,
  ExportFeatures,
  GetProjectOverview,
  GetProjectHealth,
  GetProject,
  UpdateProject,
  UpdateProjectSettings,
  ArchiveProject,
  ReviveProject,
  DeleteProject,
  ValidateProjectId,
  ListFlagCreators,
  AddProjectEnvironment,
  RemoveProjectEnvironment,
  SetDefaultStrategy,
  AddFavoriteProject,
  RemoveFavoriteProject,
  ListEnvironments,
  GetEnvironment,
  ListEnvironmentsOfProject,
  CreateEnvironment,
  UpdateEnvironment,
  DeleteEnvironment,
  ValidateEnvironmentName,
  SetEnvironmentOrder,
  SwitchEnvironmentOn,
  SwitchEnvironmentOff,
  CreateStrategyType,
  DeleteStrategyType,
  DeprecateStrategyType,
  GetStrategyType,
  ReactivateStrategyType,
  UpdateStrategyType,
  ListStrategyTypes,
  ListFeatureTypes,
  SetFeatureTypeLifetime,
  ValidateImport,
  ListUsers,
  CreateUser,
  SearchUsers,
  GetUiConfig,
  SetUiConfig,
  GetInstanceStatistics,
  GetInstanceStatisticsCsv,
  GetTelemetrySettings,
  GetMaintenance,
  ListUsersAndGroups,
  CountAdmins,
  ListInactiveUsers,
  DeleteInactiveUsers,
  GetUserPermissions,
  GetUser,
  UpdateUser,
  DeleteUser,
  ListUserTokens,
  CreateUserToken,
  DeleteUserToken,
  GetMe,
  GetProfile,
  GetUserRoles,
  ListPats,
  CreatePat,
  DeletePat,
  ListServiceAccounts,
  CreateServiceAccount,
  UpdateServiceAccount,
  DeleteServiceAccount,
  ListServiceAccountTokens,
  CreateServiceAccountToken,
  DeleteServiceAccountToken,
  ListApiTokens,
  GetApiTokensByName,
  CreateApiToken,
  UpdateApiToken,
  DeleteApiToken,
  ListProjectApiTokens,
  CreateProjectApiToken,
  DeleteProjectApiToken,
  ListRoles,
  GetRole,
  CreateRole,
  UpdateRole,
  DeleteRole,
  ValidateRole,
  ListPermissions,
  ListGroups,
  GetGroup,
  CreateGroup,
  UpdateGroup,
  DeleteGroup,
  GetProjectAccess,
  SetProjectAccess,
  AddProjectAccess,
  SetProjectUserRoles,
  RemoveProjectUser,
  SetProjectGroupRoles,
  RemoveProjectGroup,
];

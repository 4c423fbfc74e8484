{{- define "bunting.labels" -}}
app.kubernetes.io/name: bunting
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .name }}
app.kubernetes.io/version: {{ include "bunting.version" . | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end }}
{{- define "bunting.selector" -}}
app.kubernetes.io/name: bunting
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .name }}
{{- end }}
{{- define "bunting.fullname" -}}
{{ printf "%s-%s" .root.Release.Name .name | trunc 63 | trimSuffix "-" }}
{{- end }}
{{- /* Complete where it fits; of a long name of a release the beginning, with a hash that keeps it apart from others. */ -}}
{{- define "bunting.jobname" -}}
{{- $suffix := printf "%s-migrations" .name -}}
{{- $name := printf "%s-%s" .root.Release.Name $suffix -}}
{{- $room := int (sub 53 (len $suffix)) -}}
{{- if gt (len $name) 63 -}}
{{- $name = printf "%s-%s-%s" (trunc $room .root.Release.Name | trimSuffix "-") (sha256sum .root.Release.Name | trunc 8) $suffix -}}
{{- end -}}
{{ $name }}
{{- end }}
{{- define "bunting.tag" -}}
{{ get (.root.Values.image.tags | default dict) .name | default .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}
{{- /* the tag of the image, as the value of a label */ -}}
{{- define "bunting.version" -}}
{{ regexReplaceAll "^[^A-Za-z0-9]+|[^A-Za-z0-9]+$" (include "bunting.tag" . | trunc 63) "" }}
{{- end }}
{{- define "bunting.image" -}}
{{- $digest := get (.root.Values.image.digests | default dict) .name -}}
{{- if $digest }}{{ .root.Values.image.registry }}/{{ .name }}@{{ $digest }}
{{- else }}{{ .root.Values.image.registry }}/{{ .name }}:{{ include "bunting.tag" . }}{{ end }}
{{- end }}
{{- /* What a service runs as: the values of the chart, and those of the service. Mappings are merged, other values of the service replace. */ -}}
{{- define "bunting.podValues" -}}
{{- $keys := list "nodeSelector" "tolerations" "affinity" "priorityClassName" "podAnnotations" "podLabels" "serviceAccount" "extraVolumes" "extraVolumeMounts" -}}
{{- $values := dict -}}
{{- range $from := list .root.Values .service }}{{ range $key := $keys -}}
{{- if hasKey $from $key }}{{ $values = mergeOverwrite $values (deepCopy (dict $key (get $from $key))) }}{{ end -}}
{{- end }}{{ end -}}
{{- toYaml $values }}
{{- end }}
{{- /* Labels of the pods of a component: only the selector, and the version of their own image, if a tag names it. All else would restart them. */ -}}
{{- define "bunting.podLabels" -}}
{{- $labels := include "bunting.selector" (dict "root" .root "name" .component) | fromYaml -}}
{{- if not (get (.root.Values.image.digests | default dict) .name) }}{{ $_ := set $labels "app.kubernetes.io/version" (include "bunting.version" .) }}{{ end -}}
{{- mergeOverwrite (deepCopy (.pod.podLabels | default dict)) $labels | toYaml }}
{{- end }}
{{- /* A changed value in the Secret of a service restarts its pods. Rendered without a cluster, as by Argo CD, there is none. */ -}}
{{- define "bunting.podAnnotations" -}}
{{- $annotations := deepCopy (.pod.podAnnotations | default dict) -}}
{{- $data := get (lookup "v1" "Secret" .root.Release.Namespace .service.secret | default dict) "data" | default dict -}}
{{- if $data -}}
{{- $used := dict }}{{ range .service.secretKeys }}{{ $_ := set $used . (get $data .) }}{{ end -}}
{{- $_ := set $annotations "checksum/secret" (toJson $used | sha256sum) -}}
{{- end -}}
{{- toYaml $annotations }}
{{- end }}
{{- define "bunting.podSpec" -}}
{{- $account := .pod.serviceAccount | default dict -}}
automountServiceAccountToken: {{ $account.automount | default false }}
enableServiceLinks: false
securityContext: {{- include "bunting.podSecurity" . | nindent 2 }}
{{- with $account.name }}
serviceAccountName: {{ . }}
{{- end }}
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{- range . }}{{ printf "\n  - name: %s" . }}{{ end }}
{{- end }}
{{- with .pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- range $key := list "nodeSelector" "tolerations" "affinity" }}
{{- with get $.pod $key }}
{{ $key }}: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}
{{- /* A value as it is written: of a file with values Helm makes each number one with a fraction, and of a long one 1.048576e+07. */ -}}
{{- define "bunting.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ printf "%.0f" . }}{{ else }}{{ toString . }}{{ end -}}
{{- end }}
{{- /* the settings of a service: those of the chart, then those of all services, then its own */ -}}
{{- define "bunting.env" -}}
{{- $prefix := .name | upper | replace "-" "_" -}}
{{- $env := dict "BUS_URL" .root.Values.nats.url "BUS_USER" .name (printf "%s_OPS_PORT" $prefix) "9090" "DRAIN_DELAY_MS" (mul .root.Values.drainDelay 1000 | toString) -}}
{{- if and (eq .name "search") .root.Values.meilisearch.url }}{{ $_ := set $env "MEILI_URL" .root.Values.meilisearch.url }}{{ end -}}
{{- range $key := .service.secretKeys }}{{ $_ := set $env (printf "%s_FILE" $key) (printf "/run/secrets/bunting/%s" $key) }}{{ end -}}
{{- range $key, $value := mergeOverwrite $env (deepCopy (.root.Values.env | default dict)) (deepCopy (.service.env | default dict)) }}
- name: {{ $key }}
  value: {{ include "bunting.text" $value | quote }}
{{- end }}
{{- end }}
{{- define "bunting.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
{{- define "bunting.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}
{{- define "bunting.volumes" -}}
- name: secrets
  secret:
    secretName: {{ .service.secret }}
    defaultMode: 0440
    items:
      {{- range .service.secretKeys }}
      - { key: {{ . }}, path: {{ . }} }
      {{- end }}
- name: tmp
  emptyDir: { sizeLimit: 64Mi }
{{- with .pod.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "bunting.volumeMounts" -}}
- { name: secrets, mountPath: /run/secrets/bunting, readOnly: true }
- { name: tmp, mountPath: /tmp }
{{- with .pod.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- define "bunting.egressTo" -}}
- ports: [{ port: {{ .port }} }]
  {{- if or .podSelector .namespaceSelector }}
  to:
    - podSelector: {{- toYaml (.podSelector | default dict) | nindent 8 }}
      {{- with .namespaceSelector }}
      namespaceSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
  {{- end }}
{{- end }}
